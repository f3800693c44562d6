import type { Json } from "../json.ts";

/** What a model can make of an earlier result. */
export const FOLLOW_UPS = ["extend", "upscale"] as const;
export type FollowUp = (typeof FOLLOW_UPS)[number];

/** For each that a model can, the values of fields that have it do so. */
export type FollowUps = { readonly [Name in FollowUp]?: { readonly [field: string]: Json } | undefined };
