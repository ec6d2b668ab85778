"""The actions of the command other than solving a model: `--install-solver`, `--doctor`, `--info`, …"""

from __future__ import annotations

from turbo_fzn.base.errors import ModelError, UsageError
from turbo_fzn.command.messages import set_up_logging
from turbo_fzn.options.parsing import Command


def act(command: Command) -> int:
    from pathlib import Path

    folder = Path(command.argument) if isinstance(command.argument, str) else None
    if command.action == "--install-solver":
        from turbo_fzn.command.install import install_solver

        print(f"wrote {install_solver(folder)}", flush=True)
        compile_most_needed()
    elif command.action == "--uninstall-solver":
        from turbo_fzn.command.install import uninstall_solver

        removed = uninstall_solver(folder)
        print("\n".join(f"removed {path}" for path in removed) or "nothing to remove")
    elif command.action == "--build-kernels":
        compile_ahead()
    elif isinstance(command.argument, list):
        return check_proof(*command.argument)
    elif command.action == "--list-variants":
        from turbo_fzn.engine.variants import table

        print("\n".join(table()))
    elif command.action == "--doctor":
        from turbo_fzn.command.doctor import examine

        return examine(lambda line: print(line, flush=True), command.options.arch, fixes=command.argument is not None)
    else:
        from turbo_fzn.command.info import describe

        print("\n".join(describe()))
    return 0


def check_proof(model: str, proof: str) -> int:
    """Prints the result that the proof proves for the model, an OPB file. Raises ModelError if it proves nothing, and
    UsageError if a file cannot be read."""
    from turbo_fzn.proof.checker import Refused
    from turbo_fzn.proof.checking import check_files, scale_of

    try:
        verdict = check_files(model, proof)
    except Refused as refused:
        raise ModelError(f"the proof is refused: {refused}", proof) from None
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror or error}", error.filename) from None
    print(f"verified: {scale_of(model).words(verdict)} ({verdict.steps} steps)", flush=True)
    return 0


def compile_most_needed() -> None:
    """Compiles the kernels that most models need, so that the first run, which may have a short time limit, need not;
    logs progress to stderr. Raises EngineError where they cannot be compiled."""
    from turbo_fzn.engine.toolchain.ahead import begin_cache

    set_up_logging(verbose=True)
    begin_cache()


def compile_ahead() -> None:
    """Compiles the kernels that some model may need on this machine; logs progress to stderr. Raises EngineError
    where the CPU engine cannot be compiled."""
    from turbo_fzn.engine.cuda.devices import architectures
    from turbo_fzn.engine.toolchain.ahead import fill_cache

    set_up_logging(verbose=True)
    fill_cache(architectures)
