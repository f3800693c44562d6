import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, SVC } from "../helpers/server.ts";

/** What machine.sh finds out, while systemd runs a machine whose files are this one's under a layer of their own. */
let facts: ReadonlyMap<string, string> = new Map();

const MACHINE = join(import.meta.dir, "support/systemd/machine.sh");
const BOOT_WITHIN_MS = 240_000;

const canBoot =
  process.getuid?.() === 0 &&
  Bun.which("systemd-nspawn") !== null &&
  Bun.spawnSync(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]).exitCode === 0;

const UNIT = `[Unit]
SuccessAction=exit-force
FailureAction=exit-force
Wants=dbus.service
After=dbus.service
[Service]
Type=oneshot
ExecStart=/bin/bash /results/machine.sh
TimeoutStartSec=200
`;

/** In a mount namespace of its own, so that nothing stays when it is killed. */
const BOOT = `
mount -t tmpfs none "$PLACE/layer"
mkdir "$PLACE/layer/upper" "$PLACE/layer/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$PLACE/layer/upper,workdir=$PLACE/layer/work" "$PLACE/root"
cp "$PLACE/results/machine.service" "$PLACE/root/etc/systemd/system/"
: >"$PLACE/root/etc/machine-id"
rm -rf "$PLACE/root/etc/svc" "$PLACE/root/var/lib/svc"
exec systemd-nspawn --register=no --keep-unit -q -D "$PLACE/root" --private-network \\
  --bind-ro="$SVC:/svc" --bind="$PLACE/results:/results" -b systemd.unit=machine.service
`;

beforeAll(async () => {
  if (!canBoot) return;
  const place = emptyFolder("machine");
  for (const name of ["layer", "root", "results"]) mkdirSync(join(place, name));
  const results = join(place, "results");
  writeFileSync(join(results, "machine.sh"), readFileSync(MACHINE));
  writeFileSync(join(results, "machine.service"), UNIT);
  const child = Bun.spawn(["unshare", "-m", "sh", "-ec", BOOT], {
    env: { PATH: process.env.PATH ?? "", PLACE: place, SVC },
    stdin: "ignore",
    stdout: Bun.file(join(place, "console")),
    stderr: "inherit",
    timeout: BOOT_WITHIN_MS,
  });
  await child.exited;
  const lines = readFileSync(join(results, "facts"), "utf8").trimEnd().split("\n");
  facts = new Map(
    lines.map((line) => {
      const [name = "", value = ""] = line.split("\t");
      return [name, value.trim()];
    }),
  );
}, BOOT_WITHIN_MS);

afterAll(() => {
  facts = new Map();
});

/** Only these facts, by their names. */
const found = (...names: string[]) => Object.fromEntries(names.map((name) => [name, facts.get(name)]));

describe.skipIf(!canBoot)("a service of a machine that systemd runs", () => {
  test("is installed, started, and enabled by one command; the second changes nothing", () => {
    expect(found("not_installed", "install", "ready", "enabled", "again")).toEqual({
      not_installed: "5",
      install: "0",
      ready: "200",
      enabled: "enabled",
      again: "[]",
    });
    const [told, real] = facts.get("pid")?.split(" ") ?? [];
    expect(told).toBe(real ?? "");
  });

  test("keeps its settings for root, and its data for its own user", () => {
    expect(facts.get("modes")).toBe("600 root 700 svc 700 svc 644 root");
  });

  test("takes changed settings up at systemctl reload, without another start", () => {
    expect(found("reload", "reloaded")).toEqual({ reload: "0", reloaded: "same 200 1" });
  });

  test("makes no system call outside its filter: each would have ended it", () => {
    expect(found("image", "edit", "video", "keys", "seal", "stop", "stopped", "filtered")).toEqual({
      ...{ image: "0", edit: "0", video: "0", keys: "0", seal: "0", stop: "0" },
      stopped: "success 0",
      filtered: "0 success Seccomp: 2",
    });
  });

  test("stops in order, and logs neither warnings nor errors behind its walls", () => {
    expect(facts.get("log")).toBe('"msg":"stopped" "msg":"stopping"');
    expect(facts.get("bad_lines")).toBe("0");
  });

  test("is started again after kill -9, and when its event loop stands still", () => {
    expect(found("killed", "watched", "hung")).toEqual({
      killed: "1 200",
      watched: "0 same",
      hung: "another 1",
    });
  });

  test("is not started again with settings that cannot be, and keeps what it stored", () => {
    expect(found("wrong_setting", "given_up", "installed_anew", "kept")).toEqual({
      ...{ wrong_setting: "1", given_up: "failed 0 12", installed_anew: "0" },
      kept: "3",
    });
  });

  test("may have another name, and a folder whose name means something to systemd", () => {
    expect(found("other", "other_starts", "other_folder", "other_uninstall")).toEqual({
      ...{ other: "0", other_starts: "0", other_uninstall: "0" },
      other_folder: '600 svc-two {"status":"ready"}',
    });
  });

  test("leaves data and settings when it is uninstalled", () => {
    expect(found("uninstall", "after", "uninstalled")).toEqual({
      uninstall: "0",
      after: "0 2 000",
      uninstalled: "5",
    });
  });

  test("can be a user's own, without root", () => {
    expect(found("refused", "user", "user_state", "user_uninstall", "user_after")).toEqual({
      ...{ refused: "1", user: "0", user_uninstall: "0" },
      user_state: "active success 200",
      user_after: "000 /home/someone/.local/share/svc/svc.db",
    });
  });
});
