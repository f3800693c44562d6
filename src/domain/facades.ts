/** The foreign APIs that this service speaks, by their names in the settings (docs/facades.md). */
export const FACADES = ["openai-videos", "fal", "gemini", "mcp", "automatic1111", "replicate"] as const;
export type FacadeName = (typeof FACADES)[number];
