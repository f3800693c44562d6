import type { JsonObject } from "../../src/domain/json.ts";

/** The model of every family. */
export const MODEL = "house";
/** Its price for a picture. */
export const PRICE_MICROS = 1_000;

/** What the operator says of making a picture a second time. */
export type Restarts = "charged" | "safe";

/** How a task ends: completed, or failed with this code. */
export type End = "completed" | { readonly code: string };

/** One of the ways in which sd-server is asked for pictures, and the provider of ours that goes it. */
export interface Family {
  readonly provider: "sdcpp" | "openai" | "sdapi";
  readonly title: string;
  readonly env: Readonly<Record<string, string>>;
  baseUrl(address: string): string;
  readonly route: JsonObject;
  /** What the family takes of how a picture is made. */
  readonly parameters: JsonObject;
  /** What becomes of a task whose picture was being made when the engine died, where a second one might be charged. */
  readonly afterEngine: End;
  /** The same, when this service died. */
  readonly afterService: End;
}

const SEED = {
  type: "integer",
  minimum: 0,
  maximum: 4_294_967_295,
  description: "Equal seeds, equal pictures.",
};
const STRENGTH = { type: "number", minimum: 0, maximum: 1, description: "How much of an image may change." };

export const FAMILIES: readonly Family[] = [
  {
    provider: "sdcpp",
    title: "job API",
    env: {},
    baseUrl: (address) => address,
    route: { provider: "sdcpp", upstream_model: "loaded" },
    parameters: { seed: SEED, strength: STRENGTH },
    // It says itself that it does not know the job.
    afterEngine: { code: "UPSTREAM_ERROR" },
    // The job goes on, and is asked after.
    afterService: "completed",
  },
  {
    provider: "openai",
    title: "OpenAI-shaped API",
    env: { OPENAI_API_KEY: "none" },
    baseUrl: (address) => `${address}/v1`,
    route: { provider: "openai", upstream_model: "loaded" },
    parameters: {},
    afterEngine: { code: "OUTCOME_UNKNOWN" },
    afterService: { code: "OUTCOME_UNKNOWN" },
  },
  {
    provider: "sdapi",
    title: "sdapi",
    env: {},
    baseUrl: (address) => address,
    // This server has no n_iter, and a route with wording names its inputs.
    route: {
      ...{ provider: "sdapi", upstream_model: "current" },
      wording: {
        count: "batch_size",
        inputs: { image: { field: "init_images" }, mask: { field: "mask" } },
      },
    },
    parameters: { seed: SEED, strength: STRENGTH },
    // This server cannot be asked after a task.
    afterEngine: { code: "OUTCOME_UNKNOWN" },
    afterService: { code: "OUTCOME_UNKNOWN" },
  },
];

/** The file of the model. Sizes and numbers go further than the engine does, so that what it changes is seen. */
export function manifestOf({ route, parameters }: Family): JsonObject {
  return {
    ...{ id: MODEL, kind: "image", name: "House", description: "What the engine has loaded." },
    modes: [
      { id: "text-to-image", requires: [] },
      { id: "image-to-image", requires: ["image"] },
      { id: "image-to-image-with-mask", requires: ["image", "mask"] },
    ],
    schema: {
      required: ["prompt"],
      properties: {
        prompt: { type: "string", minLength: 1, maxLength: 4_000, description: "What to draw." },
        image_url: { description: "An image to draw anew." },
        mask_url: { description: "What of it may change." },
        n: { type: "integer", minimum: 1, maximum: 10, default: 1, description: "How many." },
        size: {
          type: "string",
          pattern: "^[0-9]{1,4}x[0-9]{1,4}$",
          default: "64x64",
          description: "Pixels.",
        },
        ...parameters,
      },
    },
    media: { image_url: { role: "image", media: "image" }, mask_url: { role: "mask", media: "image" } },
    price: { lines: [{ sku: MODEL, unit: "output", amount: (PRICE_MICROS / 1_000_000).toFixed(6) }] },
    deadline_seconds: 1_200,
    routes: [route],
  };
}

/** The settings of a server that has this provider alone. */
export function settingsOf({ provider, baseUrl }: Family, address: string, restarts: Restarts): JsonObject {
  return { providers: { [provider]: { base_url: baseUrl(address), restarts } } };
}
