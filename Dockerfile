# MiniZinc with the solver turbo on CPU threads.
#   docker build -t turbo .
#   docker run --rm -v "$PWD:/models" turbo model.mzn data.dzn
FROM python:3.12-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN TURBO_FZN_ALL_ENGINES=1 python -m pip wheel --no-cache-dir --wheel-dir /wheels /src

FROM python:3.12-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends minizinc \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir --no-index --find-links /wheels turbo_fzn
RUN fzn-turbo --install-solver /usr/share/minizinc/solvers && fzn-turbo --doctor
RUN useradd --create-home solver
USER solver
WORKDIR /models
ENTRYPOINT ["minizinc", "--solver", "turbo"]
