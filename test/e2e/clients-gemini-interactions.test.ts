import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { GoogleGenAI, type GoogleGenAIInteraction } from "@google/genai";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Customer, createCustomer } from "./support/customer.ts";
import { openCuttingProxy } from "./support/cutting-proxy.ts";
import { decode, plainImage } from "./support/pictures.ts";
import { probe } from "./support/videos.ts";

setDefaultTimeout(120_000);

const CENT = 10_000;
const SECOND = 20_000;
const SOON = { delay_ms: 0 };
const PROMPT = "a fox in the snow";

let server: Server;
let base: string;
let picture: string;

beforeAll(async () => {
  server = await startServer();
  base = `${server.url}/gemini`;
  picture = Buffer.from(await plainImage(64, 64)).toString("base64");
});

afterAll(stopServers);

type Sandbox = Readonly<Record<string, string | number>>;

const clientOf = (apiKey: string, baseUrl = base) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });

/** What makes a picture. Labels have nothing but texts there. */
const asked = (sandbox: Sandbox = SOON) =>
  ({ model: "sandbox-image", input: PROMPT, labels: { sandbox: JSON.stringify(sandbox) } }) as const;
const film = (sandbox: Sandbox = SOON) =>
  ({
    ...asked(sandbox),
    ...{ model: "sandbox-video", background: true },
    response_format: { type: "video", duration: "1s", aspect_ratio: "9:16", delivery: "uri" },
  }) as const;

/** The errors of this part of the client are not exported. */
interface Failure extends Error {
  readonly status: number;
}

async function failureOf(call: Promise<unknown>): Promise<Failure> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Error && "status" in error) return error as Failure;
  throw new Error(`Expected an error with a status, got ${String(error)}`);
}

const bytesOf = ({ output_image }: GoogleGenAIInteraction) => Buffer.from(output_image?.data ?? "", "base64");

const request = async (customer: Customer, id: string | undefined) =>
  (await customer.api.send(`/v1/tasks/${id}`)).data as { readonly request?: { readonly mode: string } };

describe("interactions of @google/genai", () => {
  test("make and edit pictures, also what the one before made", async () => {
    const customer = await createCustomer(server);
    const { interactions } = clientOf(customer.key);
    const first = await interactions.create({
      ...asked(),
      response_format: { type: "image", aspect_ratio: "16:9", image_size: "512" },
    });
    expect(first.status).toBe("completed");
    expect(first.sdkHttpResponse?.headers?.["x-request-cost"]).toBe("0.010000");
    const { width, height } = await decode(bytesOf(first));
    expect(Math.round((width / height) * 9)).toBe(16);
    const second = await interactions.create({
      ...asked(),
      input: [
        { type: "text", text: "make it blue" },
        { type: "image", data: picture, mime_type: "image/png" },
      ],
    });
    const third = await interactions.create({
      ...{ ...asked(), input: "make it green", previous_interaction_id: second.id ?? "" },
    });
    for (const { id } of [second, third])
      expect((await request(customer, id)).request?.mode).toBe("image-to-image");
    expect(bytesOf(await interactions.get(third.id ?? ""))).toEqual(bytesOf(third));
    expect(customer.charged()).toBe(3 * CENT);
  });

  test("stream a picture", async () => {
    const customer = await createCustomer(server);
    const stream = await clientOf(customer.key).interactions.create({ ...asked(), stream: true });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ event_type }) => event_type)).toEqual([
      ...(["interaction.created", "interaction.status_update", "step.start", "step.delta"] as const),
      ...(["step.stop", "interaction.completed"] as const),
    ]);
    const delta = events.flatMap((event) => (event.event_type === "step.delta" ? [event.delta] : []))[0];
    if (delta?.type !== "image") throw new Error("There is no picture.");
    expect(await decode(Buffer.from(delta.data ?? "", "base64"))).toMatchObject({ format: "png" });
    expect(customer.charged()).toBe(CENT);
  });

  test("make a video in the background, which is polled, read and deleted", async () => {
    const customer = await createCustomer(server);
    const client = clientOf(customer.key);
    let made = await client.interactions.create(film());
    const id = made.id ?? "";
    while (made.status === "in_progress") {
      await Bun.sleep(50);
      made = await client.interactions.get(id);
    }
    expect(made.status).toBe("completed");
    const headers = { "x-goog-api-key": customer.key };
    const bytes = await (await fetch(made.output_video?.uri ?? "", { headers })).bytes();
    expect(await probe(new Uint8Array(bytes))).toMatchObject({ codec: "avc", width: 360, height: 640 });
    expect(customer.charged()).toBe(SECOND);
    await client.interactions.delete(id);
    expect((await failureOf(client.interactions.get(id))).status).toBe(404);
  });

  test("are cancelled, and cost nothing", async () => {
    const customer = await createCustomer(server);
    const { interactions } = clientOf(customer.key);
    const { id = "" } = await interactions.create(film({ outcome: "hang" }));
    let read = await interactions.cancel(id);
    while (read.status === "in_progress") read = await interactions.get(id);
    expect(read.status).toBe("cancelled");
    expect({ charged: customer.charged(), held: customer.held() }).toEqual({ charged: 0, held: 0 });
  });

  test("tell of failures and of content that is refused, which cost nothing", async () => {
    const customer = await createCustomer(server);
    const { interactions } = clientOf(customer.key);
    for (const [outcome, code] of [
      ["failed", "UPSTREAM_ERROR"],
      ["moderated", "CONTENT_MODERATED"],
    ]) {
      const { status, errors } = await interactions.create(asked({ ...SOON, outcome: outcome ?? "" }));
      expect([status, errors?.map((error) => error.code)]).toEqual(["failed", [code]]);
    }
    expect(await customer.tasks()).toHaveLength(2);
    expect(customer.charged()).toBe(0);
  });

  test("whose connection is cut are sent again by the client, and charged once", async () => {
    const customer = await createCustomer(server);
    const proxy = await openCuttingProxy(server.port);
    const { interactions } = clientOf(customer.key, `${proxy.url}/gemini`);
    const making = interactions.create(asked({ delay_ms: 1_500 }));
    const [task] = await customer.tasks(1);
    proxy.cut();
    expect((await making).id).toBe(String(task?.task_id));
    expect(await customer.tasks()).toHaveLength(1);
    expect(customer.charged()).toBe(CENT);
    await proxy.close();
  });

  test("of another account are not found", async () => {
    const { id = "" } = await clientOf(server.firstKey()).interactions.create(film({ outcome: "hang" }));
    const { interactions } = clientOf((await createCustomer(server)).key);
    for (const method of ["get", "cancel", "delete"] as const)
      expect((await failureOf(interactions[method](id))).status).toBe(404);
    const edit = interactions.create({ ...asked(), previous_interaction_id: id });
    expect((await failureOf(edit)).status).toBe(404);
  });

  test("get errors with the status and Google's words", async () => {
    const ask = (key: string, more = {}) =>
      failureOf(clientOf(key).interactions.create({ ...asked(), ...more }, { maxRetries: 0 }));
    const unknown = await ask("sk-svc-nobody");
    expect([unknown.status, unknown.name]).toEqual([401, "AuthenticationError"]);
    const poor = await createCustomer(server, { credit: "0.001" });
    expect((await ask(poor.key)).status).toBe(402);
    expect(await poor.tasks()).toHaveLength(0);
    const hasty = await createCustomer(server, { flags: ["--rpm", "1"] });
    await clientOf(hasty.key).interactions.create(asked());
    expect((await ask(hasty.key)).status).toBe(429);
    const wrong = await ask(server.firstKey(), { response_format: { type: "image", image_size: "9K" } });
    expect(wrong.status).toBe(400);
    expect(wrong.message).toContain("response_format.image_size");
  });
});
