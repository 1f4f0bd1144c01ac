# Causeway in a container: the configuration and the rules in /config, databases in /data, nobody but `node`.
FROM node:20-bookworm-slim AS build
WORKDIR /app
# better-sqlite3 is compiled here; the compiler does not go into the image that runs.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 make g++ \
 && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin
COPY broker broker
COPY src src
RUN npm run build && npm prune --omit=dev

FROM node:20-bookworm-slim
LABEL org.opencontainers.image.title="Causeway" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY bin bin
COPY rules/examples rules/examples
RUN mkdir -p /config/rules /data && chown -R node:node /config /data
# Inside a container "loopback only" would be nobody: it listens on all addresses, and the first start makes an admin token
# and prints it once, unless CAUSEWAY_ADMIN_TOKEN or CAUSEWAY_ADMIN_TOKEN_FILE gives one.
ENV NODE_ENV=production \
    CAUSEWAY_CONTAINER=1 \
    CAUSEWAY_HOME=/config \
    CAUSEWAY_DATA__DIR=/data \
    CAUSEWAY_HTTP__HOST=0.0.0.0 \
    CAUSEWAY_MQTT__HOST=0.0.0.0
USER node
VOLUME ["/config", "/data"]
EXPOSE 1883 8480
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.CAUSEWAY_HTTP__PORT || 8480) + '/healthz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The program is process 1: it handles SIGTERM itself and starts no children that could be orphaned.
ENTRYPOINT ["node", "--enable-source-maps", "dist/src/main.js"]
CMD ["serve"]
