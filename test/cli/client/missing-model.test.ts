import { expect, test } from "bun:test";
import { readModelOrTell } from "../../../cli/client/missing-model.ts";
import { EXIT } from "../../../cli/exit-codes.ts";
import { Failure } from "../../../cli/failure.ts";

const refused = new Failure(EXIT.notFound, "model_not_available", "GET /v1/models lists them.", {
  hint: "`svc models list --all` lists them.",
  requestId: "req_1",
});
const read = () => Promise.reject(refused);
const list = async () => [{ id: "sandbox-image" }, { id: "gpt-image-2", available: false }];

test.each([
  ["gpt-image-2", 'The model "gpt-image-2" is not available on this server at present.'],
  ["sandbox-imag", 'There is no model "sandbox-imag". Did you mean "sandbox-image"?'],
  ["nothing-like-it", 'There is no model "nothing-like-it".'],
  ["\u001b[2J", 'There is no model "\\u001b[2J".'],
])("a model that is not there is told without endpoints: %j", async (id, message) => {
  const { exitCode, code, hint, requestId } = refused;
  await expect(readModelOrTell(id, read, list)).rejects.toMatchObject({
    exitCode,
    code,
    hint,
    requestId,
    message,
  });
});

test("trouble with the list leaves the server's own message", async () => {
  await expect(readModelOrTell("x", read, () => Promise.reject(new Error("gone")))).rejects.toBe(refused);
});

test("other trouble is left alone, and asks for no list", async () => {
  const other = new Failure(EXIT.auth, "invalid_api_key", "The key is unknown.");
  const never = () => Promise.reject(new Error("asked"));
  await expect(readModelOrTell("x", () => Promise.reject(other), never)).rejects.toBe(other);
});
