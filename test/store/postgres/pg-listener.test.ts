import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type pg from "pg";
import { createPgListener } from "../../../src/store/postgres/pg-listener.ts";

/** A connection of which each statement is answered, or none. */
class Connection extends EventEmitter {
  constructor(private readonly answers: boolean) {
    super();
  }
  escapeIdentifier(name: string): string {
    return name;
  }
  async connect(): Promise<void> {}
  query(): Promise<void> {
    return this.answers ? Promise.resolve() : new Promise(() => {});
  }
  async end(): Promise<void> {}
}

test("a connection that is lost while it begins to listen is made anew", async () => {
  const opened: Connection[] = [];
  const listener = createPgListener(async () => {
    const made = new Connection(opened.length !== 1);
    opened.push(made);
    return made as unknown as pg.Client;
  });
  const heard: string[] = [];
  await listener.listen(
    "news",
    (payload) => heard.push(payload),
    () => {},
  );
  await listener.listenAnew();
  while (opened.length < 2) await Bun.sleep(10);
  await Bun.sleep(10);
  await listener.listenAnew();
  while (opened.length < 3) await Bun.sleep(10);
  await Bun.sleep(10);
  opened[2]?.emit("notification", { channel: "news", payload: "here" });
  expect(heard).toEqual(["here"]);
  await listener.stop();
});

test("a connection that is still made holds up nobody who stops", async () => {
  const listener = createPgListener(async () => new Connection(false) as unknown as pg.Client);
  const reconnecting = createPgListener(async () => {
    const made = new Connection(true);
    made.connect = () => new Promise(() => {});
    return made as unknown as pg.Client;
  });
  listener
    .listen(
      "news",
      () => {},
      () => {},
    )
    .catch(() => {});
  const listening = reconnecting.listen(
    "news",
    () => {},
    () => {},
  );
  await Bun.sleep(1);
  await reconnecting.stop();
  expect(listening).rejects.toThrow();
  await listener.stop();
});
