import { afterAll, describe, expect, test } from "bun:test";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import { createNodeStore, urlOfNode } from "../../../src/store/postgres/node-store.ts";
import { readPostgresAddress } from "../../../src/toolkit/postgres-address.ts";
import { emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("nodes with connections", () => {
  afterAll(stopPostgres);

  test.each(["bun", "pg"])("%s: are those whose processes have not ended", async (client) => {
    const url = new URL(await emptyPostgres());
    url.search = `client=${client}&application_name=${"media%20".repeat(10)}`;
    const open = (id: string) => openConnection({ url: urlOfNode(url.href, id), connections: 1 });
    const [one, other, unnamed] = [open("one"), open("other"), openConnection({ url: url.href })];
    await other.read((session) => session.ask("select 1", []));
    const nodes = createNodeStore(one);
    expect([...((await nodes.connected("one")) ?? [])]).toEqual(expect.arrayContaining(["one", "other"]));
    await other.stop();
    while ((await nodes.connected("one"))?.has("other")) await Bun.sleep(5);
    // It cannot see itself, as behind a pooler that names all connections alike.
    expect(await createNodeStore(unnamed).connected("self")).toBeUndefined();
    await Promise.all([one.stop(), unnamed.stop()]);
  });
});

test("the address of a node differs from the operator's in the name of its connections alone", () => {
  const given = "postgres://svc:p%40ss@db.example:5433/media?sslmode=require&client=pg&connect_timeout=7";
  const { applicationName, ...address } = readPostgresAddress(urlOfNode(given, "n1"));
  const { applicationName: _, ...before } = readPostgresAddress(given);
  expect([applicationName, address]).toEqual(["svc n1", before]);
});
