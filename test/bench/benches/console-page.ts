/* What the bench of the console runs in the page. */

/** When the prompt could be typed into, in ms from the request for the page: after the frame that shows it. */
export const SCREEN_READY = `new Promise((resolve) => {
  const look = () => {
    const prompt = document.querySelector("main textarea");
    if (prompt === null || prompt.disabled) return requestAnimationFrame(look);
    requestAnimationFrame(() => resolve(performance.now()));
  };
  look();
})`;

/** Begins to note the tasks that keep the page's thread. The browser tells of those over 50 ms alone. */
export const WATCH = `{
  globalThis.longTasks = [];
  globalThis.frames = 0;
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
  const count = () => { frames += 1; requestAnimationFrame(count); };
  requestAnimationFrame(count);
}`;

/** What was noted since the last time. */
export const GATHER = `{
  const found = { count: longTasks.length, longestMs: Math.max(0, ...longTasks), frames };
  [globalThis.longTasks, globalThis.frames] = [[], 0];
  found;
}`;

/** Scrolls for so long, most of a window in each frame: up and down through the list, and now and then to another place of it. */
export const SCROLL = `(ms) => new Promise((resolve) => {
  const end = performance.now() + ms;
  let [step, turn] = [-800, 0];
  const go = (now) => {
    const height = document.documentElement.scrollHeight - innerHeight;
    turn += 1;
    if (turn % 240 === 0) scrollTo(0, height * ((turn / 240 * 0.37) % 1));
    else scrollBy(0, step);
    if (scrollY <= 0) step = 800;
    if (scrollY >= height - 1) step = -800;
    if (now < end) requestAnimationFrame(go);
    else resolve();
  };
  requestAnimationFrame(go);
})`;

/** How many entries the list has, of which the page holds those in sight: it is scrolled to its end, and looked at in the next frame. */
export const COUNT = `(rows) => new Promise((resolve) => {
  scrollTo(0, document.documentElement.scrollHeight);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const row = document.querySelector(rows);
    resolve(Number(row?.getAttribute("aria-setsize") ?? row?.closest("table")?.getAttribute("aria-rowcount") ?? 0));
  }));
})`;
