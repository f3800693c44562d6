import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { emptyFolder, type RunOptions, svc } from "./support.ts";

/** A folder with an empty data folder in it, in its default place. */
async function dataFolder(settings?: string): Promise<string> {
  const cwd = emptyFolder();
  expect((await svc(["migrate"], { cwd })).exitCode).toBe(0);
  if (settings !== undefined) await Bun.write(join(cwd, "svc-data", "svc.yaml"), settings);
  return cwd;
}

async function json(cwd: string, args: readonly string[], more: RunOptions = {}) {
  const { exitCode, stdout, stderr } = await svc(["pricing", ...args, "--json"], { cwd, ...more });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout);
}

const price = (amount: string) => ({
  version: expect.stringMatching(/^[0-9a-f]{12}$/),
  lines: [{ sku: "sandbox-image", unit: "output", amount }],
});

describe("svc pricing", () => {
  test("sets, shows, lists and resets the price of a model", async () => {
    const cwd = await dataFolder();
    const set = await json(cwd, ["set", "sandbox-image", "--per-output", "0.02", "--reason", "a trial"]);
    expect(set).toEqual({
      model: "sandbox-image",
      source: "set",
      set_at: expect.any(Number),
      reason: "a trial",
      price: price("0.020000"),
      unpriced: null,
    });
    expect(await json(cwd, ["show", "sandbox-image"])).toEqual(set);
    const { prices } = await json(cwd, ["list"]);
    expect(prices[0]).toEqual(set);
    expect(prices[1]).toMatchObject({ model: "sandbox-upscale", source: "built_in", set_at: null });
    const { stdout } = await svc(["pricing", "show", "sandbox-upscale", "--plain"], { cwd });
    expect(stdout).toContain("source\tmanifest\n");
    const reset = await json(cwd, ["reset", "sandbox-image", "--yes"]);
    expect(reset).toMatchObject({ source: "built_in", reason: null, price: { version: "1" } });
    expect(await svc(["pricing", "reset", "sandbox-image", "--yes"], { cwd })).toMatchObject({
      exitCode: 0,
      stderr: "No price of sandbox-image was set in ./svc-data; nothing is changed.\n",
    });
  });

  test("makes a rule of all its flags, and of one in a file or from a pipe", async () => {
    const cwd = await dataFolder();
    const flags = [
      ...["--per-output", "0.001", "--per-second", "0.02", "--most-seconds", "9"],
      ...["--per-megapixel", "0.003", "--most-megapixels", "16"],
      ...["--per-million-input-tokens", "5", "--most-input-tokens", "2000"],
      ...["--per-million-output-tokens", "30", "--most-output-tokens", "5000", "--minimum", "0.1"],
    ];
    const made = await json(cwd, ["set", "sandbox-image", ...flags]);
    expect(made.price).toEqual({
      version: expect.any(String),
      lines: [
        { sku: "sandbox-image-output", unit: "output", amount: "0.001000" },
        { sku: "sandbox-image-second", unit: "second", amount: "0.020000", most: 9 },
        { sku: "sandbox-image-megapixel", unit: "megapixel", amount: "0.003000", most: 16 },
        {
          sku: "sandbox-image-input-token",
          unit: "input_token",
          amount: "5.000000",
          per: 1_000_000,
          most: 2000,
        },
        {
          sku: "sandbox-image-output-token",
          unit: "output_token",
          amount: "30.000000",
          per: 1_000_000,
          most: 5000,
        },
      ],
      minimum: "0.100000",
    });
    await Bun.write(join(cwd, "rule.yaml"), 'lines: [{ sku: sandbox-image, unit: output, amount: "0.5" }]');
    expect((await json(cwd, ["set", "sandbox-image", "--rule", "rule.yaml"])).price).toEqual(
      price("0.500000"),
    );
    const piped = { stdin: JSON.stringify(made.price) };
    expect((await json(cwd, ["set", "sandbox-image", "--rule", "-"], piped)).price).toEqual(made.price);
  });

  test("prices a request by the rule in force, line by line", async () => {
    const cwd = await dataFolder();
    await json(cwd, ["set", "sandbox-video", "--per-second", "0.030000", "--minimum", "0.5"]);
    const asked = ["-i", "duration=3", "-n", "2", "--price-multiplier", "1.25"];
    const { request } = await json(cwd, ["show", "sandbox-video", ...asked]);
    expect(request).toEqual({
      ...{ status: "exact", currency: "USD", min_cost: "0.625000", max_cost: "0.625000" },
      line_items: [
        {
          ...{
            sku: "sandbox-video",
            unit: "second",
            quantity: 6,
            unit_price: "0.030000",
            amount: "0.225000",
          },
          detail: "3 seconds × 2 outputs × 1.25",
        },
        {
          ...{ sku: "minimum", unit: "task", quantity: 1, unit_price: "0.400000", amount: "0.400000" },
          detail: "up to the minimum",
        },
      ],
      missing: [],
      multiplier: "1.25",
    });
    const { stdout } = await svc(["pricing", "show", "sandbox-video", ...asked], { cwd });
    expect(stdout).toContain("price\t0.030000 USD per second\nminimum\t0.500000 USD\n");
    expect(stdout).toEndWith("minimum\t0.400000\t0.400000\tup to the minimum\ntotal\t0.625000\t\t\n");
  });

  test("warns of requests that are left without a price, and says so when shown", async () => {
    const cwd = await dataFolder();
    const set = await svc(["pricing", "set", "sandbox-image", "--per-megapixel", "0.02", "--json"], { cwd });
    expect(set.stderr).toBe('! Requests with size "auto" have no price now, and are refused.\n');
    expect(JSON.parse(set.stdout).unpriced).toEqual({ size: "auto" });
    const shown = await svc(["pricing", "show", "sandbox-image", "-n", "1"], { cwd });
    expect(shown.stdout).toContain('refused\trequests with size "auto", for want of a price\n');
    expect(shown.stdout).toEndWith("\nThe price depends on size; give it with -i.\n");
  });

  test("has the prices of svc.yaml between the built-in ones and those that are set", async () => {
    const cwd = await dataFolder(
      'pricing:\n  sandbox-image:\n    lines: [{ sku: sandbox-image, unit: output, amount: "0.07" }]\n',
    );
    expect(await json(cwd, ["show", "sandbox-image"])).toMatchObject({
      source: "settings",
      price: price("0.070000"),
    });
    await json(cwd, ["set", "sandbox-image", "--per-output", "0.08"]);
    expect(await json(cwd, ["reset", "sandbox-image", "--yes"])).toMatchObject({
      source: "settings",
      price: price("0.070000"),
    });
  });

  test("says everything that is wrong with the prices of svc.yaml, and where", async () => {
    const cwd = await dataFolder(
      "pricing:\n  sandbox-imag: {}\n  veo3:\n    lines: [{ sku: veo3, unit: second, amount: 0.2 }]\n  flux-dev: { lnies: [] }\n",
    );
    const { exitCode, stderr } = await svc(["pricing", "list"], { cwd });
    expect(exitCode).toBe(12);
    expect(stderr).toContain("svc.yaml:2:3: pricing.sandbox-imag: is no model. Did you mean sandbox-image?");
    expect(stderr).toMatch(/unknown field "lnies"; did you mean "lines"\?$/m);
    expect(stderr).toContain(
      'svc.yaml:4:40: pricing.veo3.lines[0].amount: must be an amount in quotes with at most six places, such as "0.010000".',
    );
    expect((await svc(["serve", "--port", "0"], { cwd })).exitCode).toBe(12);
    const scalar = await dataFolder("pricing: 7\n");
    expect((await svc(["pricing", "list"], { cwd: scalar })).stderr).toContain(
      "must hold price rules by model, got 7",
    );
  });

  const OUTPUT = ["--per-output", "1"];
  test.each([
    [["set", "sandbox-image"], 2, "There is no price: give --per-output"],
    [["set", "sandbox-image", "--per-output", "x"], 2, "--per-output must be an amount like 5.00"],
    [["set", "sandbox-image", "--per-output", "-1"], 2, '--per-output must be an amount from 0, got "-1".'],
    [
      ["set", "sandbox-image", "--per-output", "100001"],
      2,
      "--per-output can come to more than 100000.000000",
    ],
    [
      ["set", "sandbox-image", "--per-second", "1"],
      2,
      '--most-seconds must say how many there can be at most, for the schema has no property "duration".',
    ],
    [
      ["set", "sandbox-image", ...OUTPUT, "--per-million-output-tokens", "1"],
      2,
      "--most-output-tokens must say how many output tokens there can be at most.",
    ],
    [["set", "sandbox-image", ...OUTPUT, "--most-seconds", "1"], 2, "--most-seconds belongs to --per-second"],
    [
      ["set", "sandbox-image", "--per-megapixel", "1", "--most-megapixels", "0"],
      2,
      "--most-megapixels must be a whole number from 1",
    ],
    [
      ["set", "sandbox-image", ...OUTPUT, "--minimum", "-1"],
      2,
      '--minimum must be an amount from 0, got "-1".',
    ],
    [["set", "sandbox-image", ...OUTPUT, "--rule", "x.yaml"], 2, "--rule is the whole rule"],
    [["set", "sandbox-image", "--rule", "x.yaml"], 2, "--rule x.yaml cannot be read"],
    [
      ["set", "sandbox-image", ...OUTPUT, "--reason", "x".repeat(201)],
      2,
      "--reason must have at most 200 characters",
    ],
    [
      ["set", "sandbox-imag", ...OUTPUT],
      5,
      'There is no model "sandbox-imag". Did you mean "sandbox-image"?',
    ],
    [["show", "nothing-like-it"], 5, 'There is no model "nothing-like-it".'],
    [["show", "sandbox-video", "-i", "duration=99"], 13, "duration must be 1 to 10; got 99."],
    [["show", "sandbox-video", "-n", "x"], 2, "--outputs must be a whole number from 1"],
    [["show", "sandbox-video", "--price-multiplier", "0"], 2, "--price-multiplier must be a number above 0"],
  ] as [string[], number, string][])(
    "that cannot be done is refused, and changes nothing: %j",
    async (args, code, says) => {
      const cwd = await dataFolder();
      const { exitCode, stdout, stderr } = await svc(["pricing", ...args], { cwd });
      expect([exitCode, stdout]).toEqual([code, ""]);
      expect(stderr).toContain(says);
      expect(JSON.stringify(await json(cwd, ["list"]))).not.toContain('"set"');
    },
  );

  test("names the file whose rule cannot be used", async () => {
    const cwd = await dataFolder();
    await Bun.write(join(cwd, "rule.json"), '{"lines":[{"sku":"a","unit":"hour","amount":"1"}]}');
    const { exitCode, stderr } = await svc(["pricing", "set", "sandbox-image", "--rule", "rule.json"], {
      cwd,
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("rule.json: lines[0].unit must be one of output, second, megapixel");
  });
});
