import { expect, test } from "bun:test";
import { troubleOf } from "../../../cli/client/answer.ts";

const refused = (message: string) =>
  troubleOf(
    Response.json({}, { status: 401 }),
    { error: { message, type: "authentication_error", code: "invalid_api_key" } },
    "http://127.0.0.1:8787",
  ).failure.hint;

test("a credential that did not arrive was taken away on the way, since every command sends one", () => {
  for (const what of ["API key", "management token"])
    expect(refused(`No ${what} was given. Send it as …`)).toContain("a proxy on the way takes the header");
  expect(refused("The API key is not valid.")).toStartWith("Set SVC_API_KEY or --key to a valid key.");
});
