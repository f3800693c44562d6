/** The header that tells the next instance of this service how many instances have passed the request on. */
export const HOPS_HEADER = "X-Svc-Hops";

/** A request that this many instances have passed on goes no further, because they probably pass it on in a circle. */
export const MAX_HOPS = 4;
