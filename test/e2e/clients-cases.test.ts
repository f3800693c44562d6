import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createFal } from "@ai-sdk/fal";
import { createGoogle } from "@ai-sdk/google";
import { createReplicate } from "@ai-sdk/replicate";
import { APICallError, generateImage, type ImageModel } from "ai";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Customer, createCustomer } from "./support/customer.ts";
import { openCuttingProxy } from "./support/cutting-proxy.ts";
import { decode } from "./support/pictures.ts";

/* What the AI SDK's providers are told, case by case. What they make is in the tests of the clients they belong to. */

setDefaultTimeout(120_000);

const CENT = 10_000;
type Sandbox = Readonly<Record<string, string | number>>;
const SOON = { delay_ms: 0 };

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

afterAll(stopServers);

interface Provider {
  readonly model: (key: string, url?: string) => ImageModel;
  /** Where the settings of the sandbox go. */
  readonly options: (sandbox: Sandbox) => NonNullable<Parameters<typeof generateImage>[0]["providerOptions"]>;
  /** The status of an account without money. */
  readonly unpaid: number;
  /** Whether an answer without pictures is how it is told that content was refused. */
  readonly isEmptyWhenRefused: boolean;
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  "@ai-sdk/fal": {
    model: (apiKey, url = server.url) =>
      createFal({ apiKey, baseURL: `${url}/fal` }).image("sandbox-image") as ImageModel,
    options: (sandbox) => ({ fal: { sandbox } }),
    unpaid: 403,
    isEmptyWhenRefused: false,
  },
  "@ai-sdk/replicate": {
    model: (apiToken, url = server.url) =>
      createReplicate({ apiToken, baseURL: `${url}/replicate/v1` }).image("svc/sandbox-image") as ImageModel,
    options: (sandbox) => ({ replicate: { sandbox } }),
    unpaid: 402,
    isEmptyWhenRefused: false,
  },
  "@ai-sdk/google": {
    model: (apiKey, url = server.url) =>
      createGoogle({ apiKey, baseURL: `${url}/gemini/v1beta` }).image("gemini-sandbox-image") as ImageModel,
    options: (sandbox) => ({ google: { labels: { sandbox: JSON.stringify(sandbox) } } }),
    unpaid: 402,
    isEmptyWhenRefused: true,
  },
};

describe.each(Object.entries(PROVIDERS))("%s", (name, { model, options, unpaid, isEmptyWhenRefused }) => {
  const draw = (
    key: string,
    sandbox: Sandbox = SOON,
    more: { url?: string; abortSignal?: AbortSignal } = {},
  ) =>
    generateImage({
      model: model(key, more.url),
      prompt: `a fox for ${name}`,
      aspectRatio: "1:1",
      maxRetries: 0,
      providerOptions: options(sandbox),
      ...(more.abortSignal && { abortSignal: more.abortSignal }),
    });
  const failureOf = async (call: Promise<unknown>): Promise<unknown> => {
    const outcome = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (outcome === undefined) throw new Error("It did not fail.");
    return outcome;
  };
  const nothingWasPaid = (customer: Customer) =>
    expect({ charged: customer.charged(), held: customer.held() }).toEqual({ charged: 0, held: 0 });

  test("is told of a failure and of content that is refused, and pays for neither", async () => {
    const customer = await createCustomer(server);
    const failed = await failureOf(draw(customer.key, { ...SOON, outcome: "failed" }));
    expect(String(failed)).toMatch(/provider failed/i);
    const refused = await failureOf(draw(customer.key, { ...SOON, outcome: "moderated" }));
    if (isEmptyWhenRefused) expect(refused).toMatchObject({ name: "AI_NoImageGeneratedError" });
    else expect(String(refused)).toContain("content policy");
    expect(await customer.tasks()).toHaveLength(2);
    nothingWasPaid(customer);
  });

  test("is told of a key that nobody has, of an empty account and of too many requests", async () => {
    const statusOf = async (key: string) => {
      const failure = await failureOf(draw(key));
      if (!APICallError.isInstance(failure)) throw new Error(`Expected an APICallError, got ${failure}`);
      return failure.statusCode;
    };
    expect(await statusOf("sk-svc-nobody")).toBe(401);
    const poor = await createCustomer(server, { credit: "0.001" });
    expect(await statusOf(poor.key)).toBe(unpaid);
    expect(await poor.tasks()).toHaveLength(0);
    const hasty = await createCustomer(server, { flags: ["--rpm", "1"] });
    await draw(hasty.key);
    expect(await statusOf(hasty.key)).toBe(429);
    expect(hasty.charged()).toBe(CENT);
  });

  test("that gives up while it waits joins its task when it asks again, and pays once", async () => {
    const customer = await createCustomer(server);
    const sandbox = { delay_ms: 1_000 };
    const leaving = new AbortController();
    const left = failureOf(draw(customer.key, sandbox, { abortSignal: leaving.signal }));
    await customer.tasks(1);
    leaving.abort();
    await left;
    // The service has noticed.
    await customer.requests(1);
    const { image } = await draw(customer.key, sandbox);
    expect((await decode(image.uint8Array)).format).toBe("png");
    expect(await customer.tasks()).toHaveLength(1);
    expect(customer.charged()).toBe(CENT);
  });

  test("whose connection is cut joins its task when it asks again, and pays once", async () => {
    const customer = await createCustomer(server);
    const proxy = await openCuttingProxy(server.port);
    const sandbox = { delay_ms: 1_000 };
    const lost = draw(customer.key, sandbox, { url: proxy.url }).then(
      () => "answered",
      () => "lost",
    );
    await customer.tasks(1);
    proxy.cut();
    const isLost = (await lost) === "lost";
    await customer.requests(1);
    if (isLost) await draw(customer.key, sandbox);
    expect(await customer.tasks()).toHaveLength(1);
    expect(customer.charged()).toBe(CENT);
    await proxy.close();
  });
});
