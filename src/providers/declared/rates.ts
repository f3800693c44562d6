const RATE = /^(\d+(?:\.\d+)?)\/(s|m)$/;

/** How often a minute, from `10/s` or `60/m`; undefined for no limit. */
export function perMinute(rate: string | undefined): number | undefined {
  const [, count, unit] = RATE.exec(rate ?? "") ?? [];
  return count === undefined ? undefined : Number(count) * (unit === "s" ? 60 : 1);
}
