/**
 * How one of several ways is chosen, among those that can be taken. `ordered` the first route · `weighted` drawn by the routes'
 * weights · `cheapest` what the request costs least by · `fastest` what took least time of late · `least_busy` where most is free.
 */
export const ROUTE_POLICIES = ["ordered", "weighted", "cheapest", "fastest", "least_busy"] as const;
export type RoutePolicy = (typeof ROUTE_POLICIES)[number];
