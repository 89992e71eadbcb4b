# Dockerfile: a small image with the server, run as nobody special. Data lives in /data.
#
#   docker build -t errand .
#   docker run -p 127.0.0.1:8001:8001 -v errand:/data errand
#
# The address is public inside the container, so a token is needed:
#   docker run --rm -v errand:/data errand token create --role admin --data /data
FROM debian:12-slim AS build
COPY . /errand
WORKDIR /errand
RUN apt-get update && script/build

FROM debian:12-slim
RUN apt-get update && \
    apt-get install -y --no-install-recommends ca-certificates libcurl4 libhiredis0.14 libjansson4 libpq5 libsqlite3-0 \
        libssl3 libuv1 tzdata && \
    rm -rf /var/lib/apt/lists/* && \
    install -d -o nobody -g nogroup -m 0700 /data
COPY --from=build /errand/build/errand /usr/bin/errand
USER nobody
VOLUME /data
EXPOSE 8001
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/errand"]
CMD ["serve", "--listen", "0.0.0.0:8001", "--data", "/data"]
