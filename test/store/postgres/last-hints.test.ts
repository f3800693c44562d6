import { afterAll, describe, expect, test } from "bun:test";
import { openCluster } from "../../../src/app/cluster.ts";
import type { Releases } from "../../../src/app/lifecycle.ts";
import type { TaskId } from "../../../src/domain/ids.ts";
import { createOrphans } from "../../../src/service/orphans.ts";
import { createBus } from "../../../src/store/postgres/bus.ts";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import { emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { quietLog } from "../../helpers/s3-store.ts";
import { countingTokens } from "../../helpers/store.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("a node", () => {
  afterAll(stopPostgres);

  test("that stops tells others of all calls that were left before its store closes the connection", async () => {
    const url = await emptyPostgres();
    const other = openConnection({ url });
    const heard: string[] = [];
    const last = Promise.withResolvers<void>();
    const hear = (told: string) => {
      heard.push(told);
      if (told === "left last task_last") last.resolve();
    };
    await createBus(other.driver, "other").listen(hear, () => {});
    const releases: Releases = [];
    const config = {
      ...{ database: { reveal: () => url }, role: "api", nodeName: undefined },
      ...{ databaseConnections: 2, databaseReplica: undefined },
    };
    // What is left out of the settings and of what a store is opened with is not needed for this.
    const cluster = await openCluster(config as never, { log: quietLog() }, releases);
    const store = await cluster?.open({ ids: countingTokens() } as never);
    const told = cluster?.shareOrphans(createOrphans());
    // More than one notification has room for.
    for (let i = 0; i < 500; i++) told?.add(`scope_${i}`, `task_${i}` as TaskId, 0);
    told?.add("last", "task_last" as TaskId, 0);
    await store?.stop();
    await last.promise;
    expect(heard).toHaveLength(501);
    for (const release of releases.reverse()) await release();
    await other.stop();
  });

  test("that has not heard some of what others told is told again which calls were left", async () => {
    const url = await emptyPostgres();
    const other = openConnection({ url });
    const bus = createBus(other.driver, "other");
    const which = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    await bus.listen(
      (told) => {
        if (told === "which left") which.resolve();
        if (told === "left scope task_1") left.resolve();
      },
      () => {},
    );
    const releases: Releases = [];
    const config = {
      ...{ database: { reveal: () => url }, role: "api", nodeName: undefined },
      ...{ databaseConnections: 2, databaseReplica: undefined },
    };
    const cluster = await openCluster(config as never, { log: quietLog() }, releases);
    const store = await cluster?.open({ ids: countingTokens() } as never);
    const orphans = createOrphans();
    orphans.add("scope", "task_1" as TaskId, 0);
    const nothing = { wake() {}, callbacksDue() {}, recount: async () => {}, rescue: async () => {} };
    await cluster?.start({} as never, {
      ...nothing,
      resume: nothing.recount,
      findLeft: nothing.recount,
      orphans,
    });
    await which.promise;
    bus.tell("which left");
    await left.promise;
    await store?.stop();
    for (const release of releases.reverse()) await release();
    await other.stop();
  });
});
