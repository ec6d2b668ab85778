// A worker for pages that are read from a folder: a browser starts none for file:// addresses, and the site's search is
// one. What would be the worker runs in a hidden frame instead, which has the same few names that the search uses:
// importScripts, postMessage and its messages. Where a server gives the pages out, nothing of this is used.
if (location.protocol === "file:") {
  const insideOfTheFrame = (page, address) => {
    self.postMessage = (data) => parent.dispatchEvent(new MessageEvent("frame-worker", { data }));
    self.importScripts = (...scripts) =>
      scripts.reduce((before, script) => before.then(() => new Promise((done, fail) => {
        const element = document.createElement("script");
        Object.assign(element, { src: new URL(script, address).href, onload: done, onerror: fail });
        document.head.append(element);
      })), Promise.resolve());
    self.importScripts(address).then(() => page.ready());
  };

  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      const whole = new URL(address, document.baseURI).href;
      const isReady = new Promise((ready) => { window.frameWorker = { ready }; });
      window.addEventListener("frame-worker", (event) => {
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      this.postMessage = (data) => isReady.then(() => {
        frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      });
      frame.srcdoc = `<script>(${insideOfTheFrame})(parent.frameWorker, ${JSON.stringify(whole)})</` + "script>";
      document.body ? document.body.append(frame)
        : document.addEventListener("DOMContentLoaded", () => document.body.append(frame));
    }
  };
}
