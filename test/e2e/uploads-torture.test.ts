import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { readDatabase } from "./support/database.ts";
import { plainImage } from "./support/pictures.ts";
import { canMount, fill, removeDisks, smallDisk } from "./support/small-disk.ts";

setDefaultTimeout(120_000);

afterAll(async () => {
  await stopServers();
  removeDisks();
});

/** Larger than what is read at once, so that half of it waits on the disk. */
const PICTURE = await noise();

async function noise(): Promise<Uint8Array<ArrayBuffer>> {
  const plain = await plainImage(600, 600);
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  // A chunk that readers pass over, in front of the end.
  const chunk = Buffer.alloc(bytes.length + 12);
  chunk.writeUInt32BE(bytes.length);
  chunk.write("noIs", 4);
  chunk.set(bytes, 8);
  chunk.writeUInt32BE(Bun.hash.crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return new Uint8Array(Buffer.concat([plain.subarray(0, -12), chunk, plain.subarray(-12)]));
}

const headersOf = (key: string) => ({
  ...{ Authorization: `Bearer ${key}`, "Content-Type": "image/png", "Idempotency-Key": "photo" },
});

async function upload(server: Server, key: string) {
  const sent = { method: "POST", headers: headersOf(key), body: PICTURE };
  const response = await fetch(`${server.url}/v1/files`, sent);
  const { data = {} } = (await response.json()) as { data?: { id?: string } };
  return { status: response.status, id: data.id, replayed: response.headers.get("x-idempotent-replay") };
}

/** Sends half of an upload. @returns what ends the connection */
async function sendHalf({ port }: Server, key: string): Promise<() => void> {
  const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {}, error() {} } });
  const lines = Object.entries(headersOf(key)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST /v1/files HTTP/1.1\r\nHost: x\r\n${lines.join("")}Content-Length: ${PICTURE.length}\r\n\r\n`,
  );
  socket.write(PICTURE.subarray(0, PICTURE.length / 2));
  return () => socket.terminate();
}

function filesIn(dataDir: string): string[] {
  const folder = join(dataDir, "assets");
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() && entry.name !== "owner.json" ? entry.name : []));
}
const rowsIn = (dataDir: string) => readDatabase(dataDir, "SELECT count(*) AS files FROM upload");

/** Resolves once half of an upload has come. */
async function untilArriving(dataDir: string): Promise<void> {
  for (let tries = 0; tries < 2_000; tries++) {
    if (filesIn(dataDir).length > 0) return;
    await Bun.sleep(5);
  }
  throw new Error("Nothing of the upload has come.");
}

test("an upload that SIGKILL cuts off leaves nothing, and is one file when it is sent again and again", async () => {
  const first = await startServer();
  const key = first.firstKey();
  const { folder, port, dataDir } = first;
  await sendHalf(first, key);
  await untilArriving(dataDir);
  first.signal("SIGKILL");
  await first.exited;

  const second = await startServer({ folder, port });
  expect([filesIn(dataDir), rowsIn(dataDir)]).toEqual([[], [{ files: 0 }]]);
  const made = await upload(second, key);
  expect([made.status, made.replayed]).toEqual([200, null]);
  second.signal("SIGKILL");
  await second.exited;

  const third = await startServer({ folder, port });
  expect(await upload(third, key)).toEqual({ status: 200, id: made.id, replayed: "true" });
  expect([filesIn(dataDir).length, rowsIn(dataDir)]).toEqual([1, [{ files: 1 }]]);
  expect(await third.stop()).toBe(0);
});

test("an upload whose sender goes, or stands still, leaves nothing", async () => {
  const server = await startServer();
  const key = server.firstKey();
  const hangUp = await sendHalf(server, key);
  await untilArriving(server.dataDir);
  hangUp();
  for (let tries = 0; tries < 2_000 && filesIn(server.dataDir).length > 0; tries++) await Bun.sleep(5);
  expect([filesIn(server.dataDir), rowsIn(server.dataDir)]).toEqual([[], [{ files: 0 }]]);

  const socket = Promise.withResolvers<string>();
  let answer = "";
  const slow = await Bun.connect({
    ...{ hostname: "127.0.0.1", port: server.port },
    socket: {
      data(_, chunk) {
        answer += chunk.toString();
      },
      close: () => socket.resolve(answer),
      error: (_, error) => socket.reject(error),
    },
  });
  const lines = Object.entries(headersOf(key)).map(([name, value]) => `${name}: ${value}\r\n`);
  slow.write(
    `POST /v1/files HTTP/1.1\r\nHost: x\r\n${lines.join("")}Content-Length: ${PICTURE.length}\r\n\r\n`,
  );
  slow.write(PICTURE.subarray(0, 1_000));
  // Never ends by itself: the service must.
  expect(await socket.promise).toMatch(/^HTTP\/1\.1 (?:400|408) /);
  expect([filesIn(server.dataDir), rowsIn(server.dataDir)]).toEqual([[], [{ files: 0 }]]);
  expect((await upload(server, key)).status).toBe(200);
  expect(await server.stop()).toBe(0);
});

test.skipIf(!canMount)(
  "an upload on a full disk is refused, leaves nothing, and is taken once there is room (needs root on Linux)",
  async () => {
    const disk = smallDisk(64);
    const server = await startServer({
      folder: disk,
      dataDir: join(disk, "svc-data"),
      args: ["--disk-refuse-mb", "off"],
    });
    const key = server.firstKey();
    const filler = fill(disk);
    const refused = await upload(server, key);
    expect([refused.status >= 500, refused.id]).toEqual([true, undefined]);
    expect(filesIn(server.dataDir)).toEqual([]);
    filler.release();
    let again = await upload(server, key);
    for (let tries = 0; tries < 40 && again.status !== 200; tries++) {
      await Bun.sleep(250);
      again = await upload(server, key);
    }
    expect([again.status, rowsIn(server.dataDir)]).toEqual([200, [{ files: 1 }]]);
    expect(await server.stop()).toBe(0);
  },
);
