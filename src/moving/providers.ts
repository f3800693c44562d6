import type { ProviderId } from "../domain/ids.ts";

const id = (name: string) => name as ProviderId;

/**
 * What LiteLLM calls providers, in front of a model's name. `recraft`, `fal_ai`, `stability` and `minimax` were seen in its
 * `LlmProviders` (https://github.com/BerriAI/litellm/blob/main/litellm/types/utils.py), `openai` in
 * https://docs.litellm.ai/docs/image_generation (both read 2026-11-27); the other names were not compared with it. Providers that are not
 * here are chat, or nothing that this service has a way to.
 */
export const LITELLM_PROVIDERS: Readonly<Record<string, ProviderId>> = {
  ...{ openai: id("openai"), gemini: id("gemini"), fal_ai: id("fal"), recraft: id("recraft") },
  ...{ runwayml: id("runway"), replicate: id("replicate"), xai: id("xai"), stability: id("stability") },
  ...{ black_forest_labs: id("bfl"), dashscope: id("dashscope"), minimax: id("minimax") },
  ...{ volcengine: id("byteplus") },
};

/** A type of channel: what they call it, and which provider it is here, if any. */
export interface ChannelType {
  readonly title: string;
  readonly provider?: ProviderId | undefined;
  /** Where its requests go unless the channel says otherwise, if that is not the provider's own address here. */
  readonly baseUrl?: string | undefined;
}

/** Channel types that both number alike. */
const COMMON: Readonly<Record<number, ChannelType>> = {
  1: { title: "OpenAI", provider: id("openai") },
  3: { title: "Azure" },
  8: { title: "Custom", provider: id("openai"), baseUrl: "" },
  14: { title: "Anthropic" },
  17: { title: "Ali", provider: id("dashscope"), baseUrl: "https://dashscope.aliyuncs.com" },
  24: { title: "Gemini", provider: id("gemini") },
};

/**
 * Types of new-api's channels (github.com/QuantumNous/new-api, constant/channel.go, transcribed 2026-11). What is not here has no
 * pictures or videos that this service could make.
 */
export const NEW_API_CHANNELS: Readonly<Record<number, ChannelType>> = {
  ...COMMON,
  2: { title: "Midjourney" },
  5: { title: "MidjourneyPlus" },
  35: { title: "MiniMax", provider: id("minimax"), baseUrl: "https://api.minimaxi.com" },
  41: { title: "VertexAI" },
  45: { title: "VolcEngine", provider: id("byteplus"), baseUrl: "https://ark.cn-beijing.volces.com" },
  48: { title: "xAI", provider: id("xai") },
  50: { title: "Kling", provider: id("kling"), baseUrl: "https://api.klingai.com" },
  51: { title: "Jimeng" },
  52: { title: "Vidu", provider: id("vidu"), baseUrl: "https://api.vidu.cn" },
  54: { title: "DoubaoVideo", provider: id("byteplus"), baseUrl: "https://ark.cn-beijing.volces.com" },
  55: { title: "Sora", provider: id("openai") },
  56: { title: "Replicate", provider: id("replicate") },
};

/** Types of one-api's channels (github.com/songquanpeng/one-api, relay/channeltype/define.go, transcribed 2026-11). */
export const ONE_API_CHANNELS: Readonly<Record<number, ChannelType>> = {
  ...COMMON,
  27: { title: "Minimax", provider: id("minimax"), baseUrl: "https://api.minimax.chat" },
  40: { title: "Doubao", provider: id("byteplus"), baseUrl: "https://ark.cn-beijing.volces.com" },
  42: { title: "VertexAI" },
  45: { title: "xAI", provider: id("xai") },
  46: { title: "Replicate", provider: id("replicate") },
  49: { title: "AliBailian", provider: id("dashscope"), baseUrl: "https://dashscope.aliyuncs.com" },
};
