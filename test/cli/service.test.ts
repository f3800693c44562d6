import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openDatagrams } from "../../cli/serve/datagrams.ts";
import { findServiceManager } from "../../cli/serve/service-manager.ts";
import { isUnitPath, renderUnit, type Service } from "../../cli/service/unit.ts";
import { openDatagramReceiver } from "../helpers/datagrams.ts";
import { emptyFolder, svc } from "./support.ts";

const isLinux = process.platform === "linux";
const hasSystemd = Bun.which("systemctl") !== null && Bun.which("systemd-analyze") !== null;
const receivers: { stop(): void }[] = [];

afterAll(() => {
  for (const receiver of receivers) receiver.stop();
});

const install = (...args: string[]) => svc(["service", "install", "--executable", "/usr/bin/env", ...args]);

async function dryRun(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await install("--dry-run", ...args);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return stdout;
}

describe.skipIf(!hasSystemd)("systemd says of the unit that it", () => {
  const analyze = async (unit: string, ...args: string[]) => {
    const file = join(emptyFolder(), "svc.service");
    writeFileSync(file, unit);
    const child = Bun.spawn(["systemd-analyze", ...args, file], { stdout: "pipe", stderr: "pipe" });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { exitCode: await child.exited, out, err };
  };

  test.each([
    ["is right", []],
    ["is right with another folder", ["--data-dir", "/srv/media files/100%/\"$x'", "--name", "svc-two"]],
    ["is right for a user", ["--user"]],
  ])("%s", async (_, args) => {
    const { exitCode, err, out } = await analyze(await dryRun(...args), "verify");
    expect([exitCode, out, err]).toEqual([0, "", ""]);
  });

  test("exposes little: docs/deploying.md says how much", async () => {
    const { out } = await analyze(await dryRun(), "security", "--offline=true", "--no-pager");
    const exposure = /Overall exposure level for \S+ ([\d.]+) OK/.exec(out)?.[1] ?? "";
    const page = readFileSync(join(import.meta.dir, "../../docs/deploying.md"), "utf8");
    expect(page).toContain(`\`systemd-analyze security\` gives it ${exposure} `);
  });
});

describe("svc service", () => {
  test.skipIf(!hasSystemd)(
    "puts its files into an image, keeps what the operator wrote, and removes them",
    async () => {
      const root = emptyFolder();
      const at = (path: string) => join(root, path);
      expect((await install("--root", root)).exitCode).toBe(0);
      expect(readFileSync(at("etc/systemd/system/svc.service"), "utf8")).toBe(await dryRun());
      expect(readlinkSync(at("etc/systemd/system/multi-user.target.wants/svc.service"))).toBe(
        "/etc/systemd/system/svc.service",
      );
      expect(statSync(at("etc/svc/svc.env")).mode & 0o777).toBe(0o600);
      writeFileSync(at("etc/svc/svc.env"), "SVC_PORT=1\n");
      const again = await install("--root", root, "--data-dir", "/srv/svc", "--json");
      expect(JSON.parse(again.stdout).changed).toEqual(["/etc/systemd/system/svc.service"]);
      expect(readFileSync(at("etc/svc/svc.env"), "utf8")).toBe("SVC_PORT=1\n");
      const removed = await svc(["service", "uninstall", "--root", root, "--json"]);
      expect(JSON.parse(removed.stdout).removed).toEqual([
        "/etc/systemd/system/svc.service",
        "/etc/sysusers.d/svc.conf",
      ]);
      expect(existsSync(at("etc/svc/svc.env"))).toBe(true);
    },
  );

  test.skipIf(!hasSystemd)("names the commands to go on with as a shell takes them", async () => {
    const { stderr } = await install("--root", emptyFolder(), "--data-dir", "/srv/my data");
    expect(stderr).toContain("svc keys create --name NAME --data-dir '/srv/my data'\n");
  });

  test.skipIf(existsSync("/run/systemd/system"))(
    "names flags of the command that was given, where systemd does not run",
    async () => {
      const config = emptyFolder();
      mkdirSync(join(config, "systemd/user"), { recursive: true });
      writeFileSync(join(config, "systemd/user/svc.service"), "# Written by svc service install.\n");
      const said = async (...args: string[]) =>
        (await svc(["service", ...args], { env: { XDG_CONFIG_HOME: config } })).stderr;
      const none = "error: This machine is not run by systemd.\n";
      expect(await said("status", "--user")).toBe(none);
      expect(await said("uninstall", "--user")).toBe(none);
      expect(await said("install", "--user", "--executable", "/usr/bin/env")).toBe(
        `${none}  --dry-run prints the unit.\n`,
      );
    },
  );

  test("touches no unit that somebody else wrote", async () => {
    const root = emptyFolder();
    mkdirSync(join(root, "etc/systemd/system"), { recursive: true });
    const unit = join(root, "etc/systemd/system/svc.service");
    writeFileSync(unit, "[Service]\n");
    for (const args of [["install", "--executable", "/svc"], ["uninstall"]]) {
      const { exitCode, stderr } = await svc(["service", ...args, "--root", root]);
      expect(exitCode).toBe(7);
      expect(stderr).toContain(`${unit} was not written by`);
    }
    expect(readFileSync(unit, "utf8")).toBe("[Service]\n");
    expect(existsSync(join(root, "etc/svc"))).toBe(false);
  });

  test.each([
    [["--name", "../etc"], "is not a name for a service"],
    [["--name", "Svc"], "is not a name for a service"],
    [["--data-dir", "/home/me/svc"], "is hidden from services of the whole machine"],
    [["--data-dir", "/"], "no folder of its own"],
    [["--data-dir", "/srv/a\nExecStartPre=/bin/sh"], "cannot stand in a unit"],
    [["--user", "--root", "/x"], "--root is for services of a whole machine"],
  ])("refuses %j", async (args, message) => {
    const { exitCode, stderr, stdout } = await install("--dry-run", ...args);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });

  test("says before the start that a program cannot be run by the service", async () => {
    const file = join(emptyFolder(), "svc");
    const told = async () =>
      (await svc(["service", "install", "--dry-run", "--executable", file, "--user"])).stderr;
    expect(await told()).toContain("is not a file that can be run");
    writeFileSync(file, "#!/bin/sh\n");
    chmodSync(file, 0o777);
    expect(await told()).toContain("can be changed by every user");
    chmodSync(file, 0o755);
    expect(await told()).toBe("");
    // Not in tmpdir(), which may be elsewhere.
    const hidden = mkdtempSync("/tmp/svc-hidden-");
    copyFileSync(file, join(hidden, "svc"));
    const machine = await svc(["service", "install", "--dry-run", "--executable", join(hidden, "svc")]);
    rmSync(hidden, { recursive: true });
    expect(machine.stderr).toContain("is hidden from services of the whole machine");
  });
});

describe("the unit", () => {
  const service: Service = {
    name: "svc",
    isForUser: false,
    executable: "/usr/local/bin/svc",
    dataDir: "/var/lib/svc",
    envFile: "/etc/svc/svc.env",
  };
  test("quotes what means something to systemd", () => {
    const unit = renderUnit({ ...service, dataDir: '/srv/%h $x "y" \\' }, "1.0.0");
    expect(unit).toContain('serve --data-dir "/srv/%%h $$x \\"y\\" \\\\"\n');
  });

  test("has no lines that a path brought", () => {
    expect(["/a\nb", "/a\u0000", "/a\u2028", "a", ""].filter(isUnitPath)).toEqual([]);
    expect(isUnitPath("/srv/Bilder für alle")).toBe(true);
  });
});

describe.skipIf(!isLinux)("a server that systemd started", () => {
  const started = async (env: Record<string, string> = {}) => {
    const receiver = openDatagramReceiver(join(emptyFolder(), "notify"));
    receivers.push(receiver);
    const warnings: string[] = [];
    const found = await findServiceManager({ NOTIFY_SOCKET: receiver.path, ...env }, (message) =>
      warnings.push(message),
    );
    return { receiver, warnings, manager: found };
  };

  test("says that it is ready, that it stops, and how long that may take", async () => {
    const { receiver, warnings, manager } = await started();
    manager.ready();
    manager.stopping(45_000.2);
    expect(await receiver.next()).toBe("READY=1");
    expect(await receiver.next()).toBe("STOPPING=1\nEXTEND_TIMEOUT_USEC=45001000");
    expect(warnings).toEqual([]);
  });

  test("shows that its loop turns, twice in the time that systemd waits", async () => {
    const { receiver, manager } = await started({ WATCHDOG_USEC: "4000", WATCHDOG_PID: String(process.pid) });
    manager.ready();
    expect([await receiver.next(), await receiver.next(), await receiver.next()]).toEqual([
      "READY=1",
      "WATCHDOG=1",
      "WATCHDOG=1",
    ]);
  });

  test("goes on when nobody hears it", async () => {
    const send = openDatagrams(join(emptyFolder(), "gone"));
    expect(send).toBeFunction();
    if (typeof send === "function") send("READY=1");
    const { receiver, manager, warnings } = await started({ NOTIFY_SOCKET: "relative" });
    manager.ready();
    manager.stopping(1);
    expect(warnings).toEqual(["NOTIFY_SOCKET cannot be used: it is neither a path nor an abstract name."]);
    expect(receiver.now()).toBeUndefined();
    expect(openDatagrams(`/${"x".repeat(200)}`)).toBe("it is too long.");
  });
});
