# What is built, and what is shipped. The lab and the tests are in neither.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/
COPY src src
RUN npm run build

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# ssh2's native parts are optional and would need a compiler.
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY runbooks runbooks
# A number, so that Kubernetes can see that it is not root.
USER 10001:10001
EXPOSE 8080
# Not through npm, which would keep SIGTERM to itself.
ENTRYPOINT ["node", "--enable-source-maps", "/app/dist/cli.js"]
CMD ["--help"]
