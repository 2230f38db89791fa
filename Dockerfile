# A small image whose first run does not compile: the engine is compiled here, for any processor of the kind.
#   docker build --tag scheduler-sim .
#   docker run --rm --volume "$PWD:/work" scheduler-sim run system.yaml trace.swf --out result
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY scheduler_sim scheduler_sim
COPY configs configs
COPY workloads workloads
# The libraries bring their own tests, a sixth of all.
RUN python -m venv /opt/scheduler-sim && /opt/scheduler-sim/bin/pip install --no-cache-dir . \
    && find /opt/scheduler-sim/lib -type d -name tests -prune -exec rm -r {} +
ENV NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES="" SCHEDULER_SIM_CACHE_DIR=/opt/scheduler-sim/cache
RUN /opt/scheduler-sim/bin/scheduler-sim prepare

FROM python:3.12-slim
COPY --from=build /opt/scheduler-sim /opt/scheduler-sim
ENV PATH=/opt/scheduler-sim/bin:$PATH NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES="" \
    SCHEDULER_SIM_CACHE_DIR=/opt/scheduler-sim/cache
WORKDIR /work
ENTRYPOINT ["scheduler-sim"]
CMD ["--help"]
