import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateImage, type ImageModel } from "ai";
import OpenAI from "openai";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { ALIASES, type Customer, createCustomer, holdSandbox } from "./support/customer.ts";
import { openCuttingProxy } from "./support/cutting-proxy.ts";
import { decode } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const BODY = {
  model: "gpt-image-1",
  prompt: "a fox",
  size: "256x256",
  sandbox: { delay_ms: 0 },
} as const;
const CENT = 10_000;
const ONE_SECOND = ["--sync-wait", "1"];

let server: Server;
/** Lets the tasks of a test end. */
let release: () => Promise<void>;

beforeAll(async () => {
  server = await startServer({ args: [...ALIASES, "--sandbox-concurrency", "1"] });
});

beforeEach(async () => {
  release = await holdSandbox(server);
});

afterEach(() => release());

afterAll(stopServers);

const clientOf = ({ baseUrl, key }: Customer, timeout = 60_000) =>
  new OpenAI({ baseURL: baseUrl, apiKey: key, timeout });

/** One task, one capture of its price, nothing left reserved. */
async function expectOneBill(customer: Customer): Promise<void> {
  const tasks = await customer.tasks();
  expect(tasks.map(({ status }) => status)).toEqual(["completed"]);
  expect({ charged: customer.charged(), held: customer.held() }).toEqual({ charged: CENT, held: 0 });
}

async function expectPicture(base64: string | undefined): Promise<void> {
  const picture = await decode(Buffer.from(base64 ?? "", "base64"));
  expect(picture).toMatchObject({ format: "png", width: 256, height: 256 });
}

describe("openai", () => {
  test("sends a call that took too long once; the same call afterwards gets that task's picture", async () => {
    const customer = await createCustomer(server, { flags: ONE_SECOND });
    const client = clientOf(customer);
    const error = await client.images.generate(BODY).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 504, code: "sync_image_timeout", type: "server_error" });
    const [task] = await customer.tasks();
    expect(String(error)).toContain(`GET /v1/images/status/${task?.task_id}`);
    expect(await customer.requests(1)).toHaveLength(1);

    await release();
    await customer.api.wait(task?.task_id ?? "");
    const { data } = await client.images.generate(BODY);
    await expectPicture(data?.[0]?.b64_json);
    expect((await customer.requests(2)).map(({ status }) => status)).toEqual([504, 200]);
    await expectOneBill(customer);
  });

  test("that gives up waiting and sends the call again by itself is billed once", async () => {
    const customer = await createCustomer(server);
    const answer = clientOf(customer, 1_500).images.generate(BODY);
    await customer.requests(2);
    await release();
    await expectPicture((await answer).data?.[0]?.b64_json);
    await expectOneBill(customer);
  });

  test("whose connection is cut is billed once", async () => {
    const customer = await createCustomer(server);
    const proxy = await openCuttingProxy(server.port);
    const client = new OpenAI({ baseURL: `${proxy.url}/compat/v1`, apiKey: customer.key });
    const answer = client.images.generate(BODY);
    await customer.tasks(1);
    proxy.cut();
    await customer.requests(1);
    await release();
    await expectPicture((await answer).data?.[0]?.b64_json);
    await expectOneBill(customer);
    await proxy.close();
  });

  test("whose answer is lost on its way is billed once where the client makes an idempotency key for each call", async () => {
    class Keyed extends OpenAI {
      protected override idempotencyHeader = "Idempotency-Key";
    }
    await release();
    const customer = await createCustomer(server);
    let isLost = false;
    const client = new Keyed({
      baseURL: customer.baseUrl,
      apiKey: customer.key,
      async fetch(url, init) {
        const response = await fetch(url, init);
        if (isLost) return response;
        isLost = true;
        await response.bytes();
        throw new TypeError("The connection was lost.");
      },
    });
    await expectPicture((await client.images.generate(BODY)).data?.[0]?.b64_json);
    expect((await customer.requests(2)).map(({ status }) => status)).toEqual([200, 200]);
    await expectOneBill(customer);
    // The next call has another key.
    await client.images.generate(BODY);
    expect(customer.charged()).toBe(2 * CENT);
  });

  test("that cuts a stream and asks again is billed once", async () => {
    const customer = await createCustomer(server);
    const client = clientOf(customer);
    const streaming = { ...BODY, stream: true } as const;
    const first = await client.images.generate(streaming);
    first.controller.abort();
    expect(await Array.fromAsync(first)).toEqual([]);
    const second = await client.images.generate(streaming);
    await release();
    const [event] = await Array.fromAsync(second);
    await expectPicture(event?.b64_json);
    await expectOneBill(customer);
  });
});

/** How `ai` is told where to go, by package. */
const AI_MODELS: Readonly<Record<string, (customer: Customer) => ImageModel>> = {
  "@ai-sdk/openai": ({ baseUrl, key }) => createOpenAI({ baseURL: baseUrl, apiKey: key }).image(BODY.model),
  "@ai-sdk/openai-compatible": ({ baseUrl, key }) =>
    createOpenAICompatible({ name: "svc", baseURL: baseUrl, apiKey: key }).imageModel(BODY.model),
};

test("ai sends a call that took too long twice more, with either package, and is billed once", async () => {
  const callers = await Promise.all(
    Object.values(AI_MODELS).map(async (modelOf) => {
      const customer = await createCustomer(server, { flags: ONE_SECOND });
      const { prompt, size } = BODY;
      return { customer, answer: generateImage({ model: modelOf(customer), prompt, size }) };
    }),
  );
  const statuses = async (customer: Customer, count: number) =>
    (await customer.requests(count)).map(({ status }) => status);
  for (const { customer } of callers) expect(await statuses(customer, 2)).toEqual([504, 504]);
  await release();
  for (const { customer, answer } of callers) {
    await expectPicture((await answer).image.base64);
    expect(await statuses(customer, 3)).toEqual([504, 504, 200]);
    await expectOneBill(customer);
  }
});

test("equal calls that are both still waited for are two tasks", async () => {
  const customer = await createCustomer(server);
  const client = clientOf(customer);
  const answers = [client.images.generate(BODY), client.images.generate(BODY)];
  await customer.tasks(2);
  await release();
  await Promise.all(answers);
  expect(await customer.tasks()).toHaveLength(2);
  expect(customer.charged()).toBe(2 * CENT);
});
