# One executable, and the libraries that it needs. docs/deploying.md says how to run it.
FROM oven/bun:1.4.5-debian AS build
WORKDIR /src
COPY package.json bun.lock bunfig.toml .bun-version ./
RUN bun install --frozen-lockfile --ignore-scripts
COPY . .
RUN bun run build --outfile /out/svc && mkdir /out/data

# The C and C++ libraries, without a shell or a package manager. Its user "nonroot" has the number 65532.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /out/svc /usr/local/bin/svc
# A new volume belongs to the owner of the folder that it is mounted on.
COPY --from=build --chown=65532:65532 /out/data /var/lib/svc
# The libraries that decode images are unpacked beside the data: the rest of the file system may be read-only.
ENV SVC_HOST=0.0.0.0 SVC_DATA_DIR=/var/lib/svc SVC_NATIVE_DIR=/var/lib/svc/native
USER 65532:65532
VOLUME /var/lib/svc
EXPOSE 8787
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --start-interval=1s CMD ["/usr/local/bin/svc", "api", "GET", "/readyz"]
ENTRYPOINT ["/usr/local/bin/svc"]
CMD ["serve"]
