import { memoryBytes } from "../runtime/vitals.ts";

/** The share of the machine's or container's memory that the process may use. The rest is for the system, and for pages of files. */
const OWN_SHARE = 0.8;
/** What a busy server has without pictures. */
const WITHOUT_PICTURES_BYTES = 64 * 1024 * 1024;

/** Above this, requests are refused, unless the operator says otherwise. */
export const mostHeldBytes = (): number => memoryBytes() * OWN_SHARE;

/** What making and decoding pictures may take. */
export const pictureBytes = (): number => Math.max(0, mostHeldBytes() - WITHOUT_PICTURES_BYTES);
