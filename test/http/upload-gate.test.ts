import { expect, test } from "bun:test";
import { createUploadGate, type UploadGate } from "../../src/http/multipart/upload-gate.ts";

const MIB = 1024 * 1024;
const upload = (bytes?: number, signal?: AbortSignal) =>
  new Request("http://test/", {
    method: "POST",
    ...(signal && { signal }),
    ...(bytes !== undefined && { headers: { "Content-Length": String(bytes) } }),
  });

/** Starts uploads that go on until told. */
function driver(gate: UploadGate) {
  const under: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string, bytes?: number, signal?: AbortSignal) =>
    // Each is somebody else's, named by the first letter.
    gate.run(upload(bytes, signal), name.charAt(0), () => {
      under.push(name);
      return new Promise<void>((end) =>
        ends.set(name, () => {
          under.splice(under.indexOf(name), 1);
          end();
        }),
      );
    });
  return { under, start, end: (name: string) => ends.get(name)?.() };
}

const turns = async () => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

test("uploads wait for memory in the order they came, and small ones do not overtake", async () => {
  const { under, start, end } = driver(createUploadGate({ bytesAtOnce: 8 * MIB, maxWaiting: 5 }));
  const all = [start("a", 100 * MIB), start("b"), start("c", 50 * MIB), start("d", 1)];
  await turns();
  expect(under).toEqual(["a", "b"]);
  end("a");
  await turns();
  expect(under).toEqual(["b", "c"]);
  end("c");
  await turns();
  expect(under).toEqual(["b", "d"]);
  end("b");
  end("d");
  await Promise.all(all);
});

test("small uploads share the memory of a large one", async () => {
  const { under, start } = driver(createUploadGate({ bytesAtOnce: 4 * MIB, maxWaiting: 5 }));
  for (const name of ["a", "b", "c", "d", "e"]) void start(name, MIB);
  await turns();
  expect(under).toEqual(["a", "b", "c", "d"]);
});

test("one upload too many to wait is told when to come again", async () => {
  const { start, end } = driver(createUploadGate({ bytesAtOnce: 1, maxWaiting: 1 }));
  const taken = [start("a"), start("b")];
  const error = await start("c").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "service_unavailable", details: { retryAfterSec: 5 } });
  end("a");
  await turns();
  end("b");
  await Promise.all(taken);
});

test("an upload that fails makes room, and fails as it did", async () => {
  const gate = createUploadGate({ bytesAtOnce: 1, maxWaiting: 0 });
  const failure = new Error("cut");
  const failing = gate.run(upload(), "a", () => Promise.reject(failure));
  expect(await failing.catch((error: unknown) => error)).toBe(failure);
  expect(await gate.run(upload(), "a", async () => "read")).toBe("read");
});

test("a client that leaves gives up its place in the line", async () => {
  const { under, start, end } = driver(createUploadGate({ bytesAtOnce: 2, maxWaiting: 2 }));
  const client = new AbortController();
  const first = start("a", 1);
  const large = start("b", 2, client.signal).catch((error: unknown) => error);
  const small = start("c", 1);
  await turns();
  expect(under).toEqual(["a"]);
  client.abort();
  expect(await large).toMatchObject({ code: "invalid_request" });
  await turns();
  expect(under).toEqual(["a", "c"]);
  end("a");
  end("c");
  await Promise.all([first, small]);
});

test("one owner's uploads leave a quarter of the memory and of the line to others", async () => {
  const { under, start, end } = driver(createUploadGate({ bytesAtOnce: 16 * MIB, maxWaiting: 4 }));
  const own = Array.from({ length: 6 }, (_, i) => start(`a${i}`));
  await turns();
  expect(under).toEqual(["a0", "a1", "a2"]);
  // Three wait, and a fourth of the same owner is one too many; another's is read at once.
  expect(await start("a6").catch((error: unknown) => error)).toMatchObject({ code: "service_unavailable" });
  const other = start("b");
  await turns();
  expect(under).toEqual(["a0", "a1", "a2", "b"]);
  for (const name of ["a0", "a1", "a2", "b"]) end(name);
  await turns();
  expect(under).toEqual(["a3", "a4", "a5"]);
  for (const name of [...under]) end(name);
  await Promise.all([...own, other]);
});

test("bodies that are read whole count twice, one larger than a share goes alone, and small ones pass at once", async () => {
  const gate = createUploadGate({ bytesAtOnce: 8 * MIB, maxWaiting: 4 });
  const under: string[] = [];
  const ends: (() => void)[] = [];
  const whole = (name: string, bytes: number) =>
    gate.runWhole(upload(bytes), "a", () => {
      under.push(name);
      return new Promise<void>((end) => ends.push(end));
    });
  const all = [whole("large", 30 * MIB), whole("next", 2 * MIB), whole("small", MIB)];
  await turns();
  expect(under).toEqual(["small", "large"]);
  for (const end of [...ends]) end();
  await turns();
  expect(under).toEqual(["small", "large", "next"]);
  ends.at(-1)?.();
  await Promise.all(all);
});

test("a length that is no number counts as unknown, and the gate goes on", async () => {
  const gate = createUploadGate({ bytesAtOnce: 16 * MIB, maxWaiting: 1 });
  for (const length of ["1, 1", "", "-5", "1e9", "0x10", "9".repeat(40)]) {
    const odd = new Request("http://test/", { method: "POST", headers: { "Content-Length": length } });
    expect(await gate.runWhole(odd, "a", async () => "read")).toBe("read");
    expect(await gate.run(odd, "a", async () => "read")).toBe("read");
  }
});
