import { expect, test } from "bun:test";
import { ProviderError } from "../../../src/domain/ports/provider.ts";
import { beforeSending } from "../../../src/providers/kit/inputs.ts";
import { rejection } from "../../contracts/provider.ts";

test("an input that cannot be read leaves nothing sent, so that the submission may be tried again", async () => {
  const failure = Object.assign(new Error("EMFILE: too many open files, open '/x'"), { code: "EMFILE" });
  const error = await rejection(beforeSending(() => Promise.reject(failure)));
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject({ disposition: "retry", message: expect.stringContaining("EMFILE") });
});

test("what a wording says of the request itself stays as it is", async () => {
  const refusal = new ProviderError("reroute", "NO_ROUTE_AVAILABLE", "There is no field for a mask.");
  expect(await rejection(beforeSending(() => Promise.reject(refusal)))).toBe(refusal);
});
