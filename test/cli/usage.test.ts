import { describe, expect, test } from "bun:test";
import packageJson from "../../package.json" with { type: "json" };
import { svc } from "./support.ts";

describe("the command line", () => {
  test.each([
    [["kyes"], "Unknown command 'kyes'. Did you mean keys?"],
    [["stop"], "Unknown command 'stop'. A server stops at Ctrl-C in its terminal, or at SIGTERM;"],
    [["status"], "Unknown command 'status'. `svc doctor` looks at a server and its data folder,"],
    [["task", "create"], "Unknown command 'create'. Did you mean submit?"],
    [["keys", "delete"], "Unknown command 'delete'. Did you mean revoke?"],
    [["config", "set", "port=1"], "Unknown command 'set'. Settings are lines of svc.yaml,"],
    [["keys", "creat"], "Unknown command 'creat'. Did you mean create?"],
    [["keys", "create"], "Required option '-n, --name <name>' not specified."],
    [["keys", "list", "--acount", "x"], "Unknown option '--acount'. Did you mean --account?"],
    [["keys", "create", "--name"], "Option '-n, --name <name>' argument missing."],
    [["keys", "show"], "Missing required argument 'key'."],
    [["version", "extra"], "Too many arguments for 'version'."],
    [["accounts", "create"], "The account needs a name."],
    [["accounts", "create", "a", "--mode", "free"], '--mode must be one of prepaid, unlimited, got "free".'],
    [["accounts", "create", "a", "--credit", "5,00"], "--credit must be an amount like 5.00"],
    [["migrate", "down"], '<action> must be one of up, status, got "down".'],
    [["task", "submit", "--prompt", "x"], "Give a model with -m, --model."],
    [["task", "submit", "-m", "x", "-i", "nonsense"], '"nonsense" is not an input'],
    [["task", "wait", "task_1", "--timeout", "soon"], '"soon" is not a duration'],
    [["task", "list", "--status", "lost"], "--status must be one of pending, processing"],
    [
      ["task", "get", "task_1", "--server", "ftp://x", "--key", "k"],
      '"ftp://x" is not the address of a server',
    ],
    [["help", "nonsense"], 'There is no help on "nonsense".'],
    [["serve", "--prot", "1"], "Unknown option '--prot'. Did you mean --port?"],
  ])("refuses %p with exit code 2", async (args, message) => {
    const { exitCode, stdout, stderr } = await svc(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toStartWith("error: ");
    expect(stderr).toContain(message);
  });

  test.each([
    ["Bearer sk-svc-abc", "SVC_API_KEY"],
    ['"sk-svc-abc"', "SVC_API_KEY"],
  ])("refuses the key %p that was not given alone, and says where it was given", async (key, place) => {
    const { exitCode, stderr } = await svc(["whoami"], { env: { SVC_API_KEY: key } });
    expect([exitCode, stderr]).toEqual([
      4,
      `error: The API key holds characters that no key has.\n  Give it alone in ${place}, as it was shown: without quotes, blanks and \`Bearer\`.\n`,
    ]);
  });

  test("says where the help of the command is that was tried", async () => {
    expect((await svc(["keys", "create"])).stderr).toEndWith("See `svc keys create --help`.\n");
  });

  test("reports its own mistakes as JSON when JSON was asked for", async () => {
    const expected = {
      error: {
        code: "usage",
        message: "Required option '-n, --name <name>' not specified.",
        hint: "See `svc tokens create --help`.",
      },
    };
    const byFlag = await svc(["tokens", "create", "--json"]);
    const byVariable = await svc(["tokens", "create"], { env: { SVC_OUTPUT: "json" } });
    expect([byFlag, byVariable].map(({ exitCode, stderr }) => [exitCode, JSON.parse(stderr)])).toEqual([
      [2, expected],
      [2, expected],
    ]);
  });

  test("shows what there is without arguments, and the commands of a group without one of them", async () => {
    const bare = await svc([]);
    expect([bare.exitCode, bare.stderr]).toEqual([0, ""]);
    expect(bare.stdout).toContain("svc serve");
    const group = await svc(["key"]);
    expect([group.exitCode, group.stdout]).toEqual([2, ""]);
    expect(group.stderr).toContain("revoke");
  });

  test.each([
    [["--help"]],
    [["-h"]],
    [["help"]],
    [["keys", "--help"]],
    [["task", "submit", "-h"]],
    [["help", "key", "create"]],
    [["serve", "--help"]],
  ])("explains itself on stdout: %p", async (args) => {
    const { exitCode, stdout, stderr } = await svc(args);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("svc ");
    expect(stdout).toContain("Examples:\n  svc ");
  });

  test("documents every exit code and every setting", async () => {
    const codes = (await svc(["help", "exit-codes"])).stdout.match(/^ *\d+/gm)?.map(Number);
    expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 130, 143]);
    const settings = (await svc(["help", "settings"])).stdout;
    expect(settings).toMatch(/scheduler\.concurrency.*\n.*\n.*SVC_SCHEDULER_CONCURRENCY/);
    expect((await svc(["help", "environment"])).stdout).toContain("SVC_API_KEY");
  });
});

describe("version", () => {
  test("is told in three ways", async () => {
    const { version } = packageJson;
    expect((await svc(["--version"])).stdout).toBe(`${version}\n`);
    expect((await svc(["version"])).stdout).toStartWith(`svc ${version} `);
    expect(JSON.parse((await svc(["version", "--json"])).stdout)).toEqual({
      version,
      bun: Bun.version,
      platform: `${process.platform}-${process.arch}`,
    });
  });

  test("comes with licences", async () => {
    expect(await svc(["version", "--licenses"])).toMatchObject({ exitCode: 0, stderr: "" });
  });
});
