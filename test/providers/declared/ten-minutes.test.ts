import { expect, test } from "bun:test";
import type { LaneId, ProviderId } from "../../../src/domain/ids.ts";
import { createDeclaredProvider } from "../../../src/providers/declared/adapter.ts";
import { loadForm } from "../../../src/providers/declared/loaded.ts";
import { readForm } from "../../../src/providers/declared/read-form.ts";
import { rehearseContract } from "../../../src/providers/declared/rehearsal/contract.ts";
import { requestOf, runExample } from "../../../src/providers/declared/rehearsal/example.ts";
import { createSecret } from "../../../src/toolkit/settings/secret.ts";
import { fetchAll, rejection } from "../../contracts/provider.ts";
import { blocksOf, readDocument } from "../../docs/blocks.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Arrived, type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";

/** The example of docs/providers.md, as somebody writes it who has never seen the code. */
const text = blocksOf(await readDocument("docs/providers.md")).find(
  ({ language }) => language === "yaml",
)!.text;
const form = readForm("bildwerk.yaml", text);
const signal = new AbortController().signal;

/** The API that the example was written for. Nothing else of this repository knows it. */
async function startBildwerk() {
  let minted = 0;
  let questions = 0;
  const orders: unknown[] = [];
  const file = "the bytes of a picture";
  const error = (kennung: string): Scripted => ({ json: { fehler: { kennung, text: "Das geht nicht." } } });
  const answer = ({ method, path, headers, body }: Arrived): Scripted => {
    if (path === "/anmeldung") {
      const { kennung, geheimnis } = JSON.parse(body.toString());
      if (kennung !== "ich" || geheimnis !== "geheim-0123456789") return error("zugang");
      return { json: { schein: `schein-${++minted}-0123456789`, gueltig_sekunden: 600 } };
    }
    if (headers.get("authorization") !== `Bearer schein-${minted}-0123456789`) return error("zugang");
    if (method === "POST" && path === "/auftraege") {
      const order = JSON.parse(body.toString());
      orders.push(order);
      if (order.text === "zu viel") return error("andrang");
      return { status: 202, headers: { location: "/auftraege/17" }, body: "" };
    }
    if (path === "/auftraege/17") {
      questions += 1;
      return { json: questions === 1 ? { zustand: "wartet", prozent: 0 } : { zustand: "fertig" } };
    }
    if (path === "/auftraege/17/ergebnis")
      return { json: { bilder: [{ adresse: `${upstream.origin}/dateien/17.png` }] } };
    return path === "/dateien/17.png" ? { body: file } : { status: 404, body: "" };
  };
  const upstream = await startUpstream(answer);
  const clock = fakeClock();
  const provider = createDeclaredProvider({
    ...{ id: "bildwerk" as ProviderId, form: loadForm(form, "hash", text), clock },
    account: {
      ...{ name: "default", lane: "bildwerk" as LaneId, baseUrl: upstream.origin },
      secrets: { client: createSecret("ich"), secret: createSecret("geheim-0123456789") },
    },
  });
  return { upstream, provider, clock, orders, file };
}

function request(prompt: string) {
  const [example] = form.examples!;
  return requestOf({ ...example!, request: { ...example!.request, prompt } }, form.provider);
}

test("the example of the documentation makes a picture at the API that it was written for", async () => {
  const { upstream, provider, orders, file } = await startBildwerk();
  const submitted = await provider.submit(request("Ein Fuchs"), signal);
  if (submitted.kind !== "operation") throw new Error("It gave outputs.");
  expect(orders).toEqual([{ modell: "farbe-2", text: "Ein Fuchs", zufall: 0 }]);
  expect(await provider.poll!(submitted.operation, signal)).toMatchObject({ kind: "pending", progress: 0 });
  const end = await provider.poll!(submitted.operation, signal);
  if (end.kind !== "succeeded" || end.outputs[0]?.kind !== "remote") throw new Error("It made no file.");
  expect(Buffer.from(await fetchAll(provider, end.outputs[0].ref)).toString()).toBe(file);
  expect(upstream.arrived.filter(({ path }) => path === "/anmeldung")).toHaveLength(1);
  upstream.stop();
});

test("its token is minted anew before it ends", async () => {
  const { upstream, provider, clock } = await startBildwerk();
  await provider.submit(request("Eins"), signal);
  clock.advance(541_000);
  await provider.submit(request("Zwei"), signal);
  expect(upstream.arrived.filter(({ path }) => path === "/anmeldung")).toHaveLength(2);
  upstream.stop();
});

test("an error in an answer of 200 is an error", async () => {
  const { upstream, provider } = await startBildwerk();
  const error = await rejection(provider.submit(request("zu viel"), signal));
  expect(error).toMatchObject({ disposition: "retry", code: "UPSTREAM_CAPACITY_EXHAUSTED" });
  upstream.stop();
});

test("its examples and the rehearsal of trouble come to what they should", async () => {
  for (const example of form.examples!)
    expect((await runExample(form, example, { clock: fakeClock() })).differences).toEqual([]);
  expect(await rehearseContract(form, { clock: fakeClock() })).toEqual([]);
});
