import { describe, expect, test } from "bun:test";
import { rehearseContract } from "../../../src/providers/declared/rehearsal/contract.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { builtInForm, FORM_FILES } from "./harness.ts";

describe.each([...FORM_FILES])("%s", (file) => {
  test("keeps to the contract of providers, whatever its upstream does", async () => {
    expect(await rehearseContract(builtInForm(file), { clock: fakeClock() })).toEqual([]);
  });
});
