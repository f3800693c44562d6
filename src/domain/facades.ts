/** The APIs of others that this service speaks, by the names that settings have for them (docs/facades.md). */
export const FACADES = ["openai-videos", "fal", "gemini", "mcp", "automatic1111", "replicate"] as const;
export type FacadeName = (typeof FACADES)[number];
