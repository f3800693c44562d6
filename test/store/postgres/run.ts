/*
 * `bun run test:postgres`: starts one PostgreSQL server for all test processes, runs the tests of the store on it, and stops it. With
 * SVC_TEST_POSTGRES it takes the server that this names. With files it runs these alone. Without any
 * server the tests skip themselves, which is said.
 *
 * PGlite 0.5.17 behind pglite-socket 0.2.17 was tried in its place: all connections share one session, so that a statement that one
 * prepared is already there for the next, a statement beside an open transaction waits for it for ever, and no notification arrives. The
 * store does each of these things.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { SETTINGS } from "../../helpers/postgres-database.ts";
import { HAS_POSTGRES, startPostgres } from "../../moving/database-servers.ts";

const OPTIONS = ["--timeout=120000", "--parallel=2", "--no-isolate", "--timings", "test/durations.json"];
const asked = process.argv.slice(2);
/** Those that are named, else all. */
const TESTS = asked.some((each) => each.startsWith("test/")) ? asked : ["test/store/postgres", ...asked];
const given = process.env.SVC_TEST_POSTGRES;
const place = given === undefined && HAS_POSTGRES ? mkdtempSync("/tmp/svc-postgres-") : undefined;
const server = place === undefined ? undefined : await startPostgres(place, { settings: SETTINGS });
const url = given ?? (await server?.newDatabase());
if (url === undefined)
  console.log(
    "There is no PostgreSQL here (initdb and postgres): its tests are skipped. PGlite takes no server's place: it has one session for all connections.",
  );
try {
  const child = Bun.spawn([process.execPath, "test", ...OPTIONS, ...TESTS], {
    stdio: ["inherit", "inherit", "inherit"],
    env: {
      ...process.env,
      ...(url === undefined ? {} : { SVC_TEST_POSTGRES: url }),
      ...(server === undefined ? {} : { SVC_TEST_POSTGRES_IS_REMOVED: "true" }),
    },
  });
  process.exitCode = await child.exited;
} finally {
  await server?.stop();
  if (place !== undefined) rmSync(place, { recursive: true, force: true });
}
