import type { Json } from "../json.ts";

/** The ways in which a model can continue from an earlier result. */
export const FOLLOW_UPS = ["extend", "upscale"] as const;
export type FollowUp = (typeof FOLLOW_UPS)[number];

/** For each follow-up that a model can do, the field values that request it. */
export type FollowUps = { readonly [Name in FollowUp]?: { readonly [field: string]: Json } | undefined };
