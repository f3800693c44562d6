import { expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import { INPUT_ADDRESS_MS } from "../../src/domain/limits.ts";
import { createSeal } from "../../src/runtime/seal.ts";
import { createInputAddresses } from "../../src/service/input-addresses.ts";
import { rejection } from "../contracts/provider.ts";
import { fakeClock, memoryAssets } from "../helpers/engine.ts";

const START = 1_000 * INPUT_ADDRESS_MS;

async function setup(key = "one passphrase that is long enough") {
  const clock = fakeClock(START);
  const assets = memoryAssets();
  const file = await assets.put(Buffer.from("picture"), { accept: ["image"], maxBytes: 99, sanitize: true });
  const addresses = (secret: string) =>
    createInputAddresses({
      assets,
      clock,
      seal: createSeal({ key: secret, file: "/nowhere/secret.key" }),
    });
  const { pathOf: pathFrom, read } = addresses(key);
  const pathOf = (file: Parameters<typeof pathFrom>[0]) => pathFrom(file, clock.now());
  const nameOf = (path: string) => path.slice("/inputs/".length);
  return { clock, assets, file, pathOf, read, nameOf, addresses };
}

test("an address leads to the bytes of its file and to their type, until it ends", async () => {
  const { clock, file, pathOf, read, nameOf } = await setup();
  const path = pathOf(file);
  expect(path).toStartWith(`/inputs/${file.sha256}-7-`);
  expect(path).toEndWith(".png");
  clock.set(START + 2 * INPUT_ADDRESS_MS - 1);
  const { content, file: found } = await read(nameOf(path));
  expect([await content.text(), found.type]).toEqual(["picture", "image/png"]);
  clock.advance(1);
  expect(await rejection(read(nameOf(path)))).toBeInstanceOf(AppError);
});

test("an address lasts for a day at least, and is the same for all of a day", async () => {
  const { clock, file, pathOf, read, nameOf } = await setup();
  const first = pathOf(file);
  clock.set(START + INPUT_ADDRESS_MS - 1);
  const last = pathOf(file);
  expect(last).toBe(first);
  clock.advance(INPUT_ADDRESS_MS);
  expect((await read(nameOf(last))).file.sha256).toBe(file.sha256);
  expect(pathOf(file)).not.toBe(first);
});

test("an address that was changed in any place leads nowhere", async () => {
  const { file, pathOf, read, nameOf, assets } = await setup();
  await assets.put(Buffer.from("another"), { accept: ["image"], maxBytes: 99, sanitize: true });
  const name = nameOf(pathOf(file));
  const [stem = "", extension] = name.split(".");
  const parts = stem.split("-");
  const changed = parts.flatMap((part, i) => {
    const other = part.endsWith("1") ? "2" : "1";
    return [[...parts.slice(0, i), part.slice(0, -1) + other, ...parts.slice(i + 1)].join("-")];
  });
  // What the last character of a signature stands for has bits that nobody reads.
  const names = [...changed.slice(0, 3), stem.replace(/-[^-]*$/, `-${"A".repeat(43)}`), stem.slice(0, -1)];
  for (const each of names.map((text) => `${text}.${extension}`).concat(`${stem}.jpg`, stem, "", "x.png"))
    expect([each, await rejection(read(each))]).toEqual([each, expect.any(AppError)]);
  expect((await read(name)).file.sizeBytes).toBe(7);
});

test("another service's addresses lead nowhere", async () => {
  const { file, read, nameOf, addresses } = await setup();
  const other = addresses("another passphrase, just as long");
  expect(await rejection(read(nameOf(other.pathOf(file, START))))).toBeInstanceOf(AppError);
});

test("the address of a file that was removed leads nowhere", async () => {
  const { file, pathOf, read, nameOf } = await setup();
  const gone = { ...file, sha256: "0".repeat(64) };
  expect(await rejection(read(nameOf(pathOf(gone))))).toBeInstanceOf(AppError);
});
