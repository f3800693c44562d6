import type { Page } from "playwright-core";
import type { Schemas } from "../../../console/api/published.d.ts";
import { MINUTE_FIGURES } from "../../../src/domain/history.ts";

type History = Schemas["History"];
type Figure = keyof History["minutes"];

/** A minute of Unix time. */
export const START = 1_795_000_020;

/** Minutes of a service, with zeros but for some figures. @param of the figures' values by the minute's place */
export function minutes(
  count: number,
  of: Partial<Record<Figure, (i: number) => number>> = {},
): Pick<History, "at" | "minutes"> {
  const places = Array.from({ length: count }, (_, i) => i);
  const values = MINUTE_FIGURES.map((figure) => [figure, places.map((i) => of[figure]?.(i) ?? 0)]);
  // Safe: made of the list of all figures.
  return {
    at: places.map((i) => START + i * 60),
    minutes: Object.fromEntries(values) as History["minutes"],
  };
}

/** Has an answer of the management API say something else: a day, or damage, that no test can wait for. */
export function answer(page: Page, path: string, change: (data: never) => object): Promise<unknown> {
  return page.route(`**/admin/v1/${path}`, async (handled) => {
    const response = await handled.fetch();
    const body = (await response.json()) as { data: object };
    const data = { ...body.data, ...change(body.data as never) };
    await handled.fulfill({ response, json: { ...body, data } });
  });
}
