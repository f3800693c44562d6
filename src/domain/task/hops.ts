/** The header in which an instance of this service tells the next one how many have passed the request on. */
export const HOPS_HEADER = "X-Svc-Hops";

/** A request that so many instances have passed on already goes no further: they probably pass it on in a circle. */
export const MAX_HOPS = 4;
