import type { Page } from "playwright-core";
import type { Schemas } from "../../../console/api/published.d.ts";
import type { ListedTask } from "../../../console/screens/tasks/list.ts";
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
  const isAsked = ({ pathname }: URL) => pathname.endsWith(`/admin/v1/${path}`);
  return page.route(isAsked, async (handled) => {
    const response = await handled.fetch();
    const body = (await response.json()) as { data: object };
    const data = { ...body.data, ...change(body.data as never) };
    await handled.fulfill({ response, json: { ...body, data } });
  });
}

/** A finished task, as lists have it. */
export function listedTask(id: string, more: Partial<ListedTask> = {}): ListedTask {
  return {
    ...{ task_id: id, status: "completed", model: "sandbox-image", created_at: 1, kind: "image" },
    ...{ result: ["http://x/assets/1.png"], usage: { cost: "0.040000", currency: "USD" } },
    ...more,
  };
}

/** Has the service say that there are so many tasks, in pages of 500. Their pictures are empty. @param latest decides their ids */
export async function haveMany(page: Page, url: string, count: number, latest = 99_999): Promise<void> {
  const result = [`${url}/assets/none.png`];
  const many = Array.from({ length: count }, (_, place) =>
    listedTask(`task_${String(latest - place).padStart(26, "0")}`, { result }),
  );
  await page.route("**/assets/none.png*", (route) => route.fulfill({ status: 204 }));
  await page.route("**/v1/tasks?*", (route) => {
    const after = new URL(route.request().url()).searchParams.get("after");
    const from = after === null ? 0 : many.findIndex(({ task_id }) => task_id === after) + 1;
    const tasks = many.slice(from, from + 500);
    const next = from + 500 < many.length ? (tasks.at(-1)?.task_id ?? null) : null;
    return route.fulfill({ json: { code: 200, message: "success", data: { tasks, next } } });
  });
}

/** Scrolls until a list has read all of its entries. @param size how many it says that it has @returns the most that the page held at once */
export async function scrollToTheEnd(
  page: Page,
  entries: string,
  { count, size }: { readonly count: number; readonly size: () => Promise<number> },
): Promise<number> {
  let most = 0;
  for (let known = 0; known < count; known = await size()) {
    most = Math.max(most, await page.locator(entries).count());
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    for (let tries = 0; (await size()) === known && tries < 200; tries += 1)
      await page.evaluate("new Promise(requestAnimationFrame)");
  }
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  return most;
}

/** Has the management API have so many of what it lists, all like its first one, in pages. @returns after which ids pages were asked for */
export async function havePages(page: Page, list: string, count: number): Promise<() => (string | null)[]> {
  const asked: (string | null)[] = [];
  const place = (id: string) => Number(id.split("_")[1]);
  const isList = ({ pathname, searchParams }: URL) =>
    pathname.endsWith(`/admin/v1/${list}`) && searchParams.has("order");
  await page.route(isList, async (route) => {
    const url = new URL(route.request().url());
    const { limit, after = null } = Object.fromEntries(url.searchParams);
    url.searchParams.delete("after");
    const response = await route.fetch({ url: url.href });
    const body = (await response.json()) as { data: Record<string, object[]> };
    asked.push(after);
    const from = after === null ? count - 1 : place(after) - 1;
    const places = Array.from({ length: Math.min(Number(limit), from + 1) }, (_, i) => from - i);
    const items = places.map((i) => ({
      ...body.data[list]?.[0],
      id: `x_${i}`,
      name: `number ${i}`,
      status: "active",
    }));
    const last = places.at(-1) ?? 0;
    await route.fulfill({
      response,
      json: { ...body, data: { [list]: items, next: last > 0 ? `x_${last}` : null } },
    });
  });
  return () => asked;
}
