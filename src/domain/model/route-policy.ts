/**
 * How one of several usable ways is chosen. `ordered` the first route · `weighted` at random by the routes' weights ·
 * `cheapest` where the request costs least · `fastest` where tasks recently took least time · `least_busy` where most capacity
 * is free.
 */
export const ROUTE_POLICIES = ["ordered", "weighted", "cheapest", "fastest", "least_busy"] as const;
export type RoutePolicy = (typeof ROUTE_POLICIES)[number];
