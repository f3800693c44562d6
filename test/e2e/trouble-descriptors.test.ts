import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { openPersistentClient } from "./support/persistent-client.ts";
import { plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const DESCRIPTORS = 120;
const held: Socket[] = [];

afterEach(async () => {
  letGo();
  await stopServers();
});

/** A server that may have few descriptors open. */
const startSmall = () => startServer({ via: ["sh", "-c", `ulimit -n ${DESCRIPTORS} && exec "$0" "$@"`] });

/** Opens connections until the server can open nothing more. */
async function exhaust(server: Server): Promise<void> {
  for (let i = 0; i < DESCRIPTORS + 20; i++) {
    const socket = connect({ host: "127.0.0.1", port: server.port });
    // The server takes a connection once it has sent something.
    socket.on("connect", () => socket.write("GET"));
    socket.on("error", () => undefined);
    held.push(socket);
  }
  while (readdirSync(`/proc/${server.pid}/fd`).length < DESCRIPTORS) await Bun.sleep(10);
}

function letGo(): void {
  for (const socket of held.splice(0)) socket.destroy();
}

const edit = async (colour: string) => ({
  model: "sandbox-image",
  prompt: "x",
  size: "16x16",
  image_url: `data:image/png;base64,${Buffer.from(await plainImage(9, 9, { colour })).toString("base64")}`,
});

function requestOf(key: string, body: object): string {
  const text = JSON.stringify(body);
  const headers = ["Host: a", `Authorization: Bearer ${key}`, "Content-Type: application/json"];
  return `POST /v1/images/generations HTTP/1.1\r\n${headers.join("\r\n")}\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

describe("a server that can open nothing more", () => {
  test.each([
    ["the first image of all", false],
    ["an image", true],
  ])("blames nobody for %s, and takes it afterwards", async (_, isWarm) => {
    const server = await startSmall();
    const key = server.firstKey();
    const api = createApi(server.url, key);
    if (isWarm) await api.make(await edit("#000000"));
    const client = openPersistentClient(server.port);
    await client.send(requestOf(key, {}));
    await exhaust(server);
    const refused = await client.send(requestOf(key, await edit("#112233")));
    expect(refused).toEqual({ status: 503, isLast: false });
    const line = JSON.parse(await server.says(/"status":503/));
    expect(line.error_code).toBe("service_unavailable");
    letGo();
    client.close();
    while (readdirSync(`/proc/${server.pid}/fd`).length > DESCRIPTORS / 2) await Bun.sleep(10);
    expect((await api.make(await edit("#112233"))).status).toBe("completed");
    expect(server.stderr()).not.toContain("unexpected error");
  });
});
