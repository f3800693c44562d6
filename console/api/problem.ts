/** Why the service did not do what was asked. */
export class ApiProblem extends Error {
  readonly status: number;
  /** A stable word, such as `invalid_request`; `unreachable` where no answer came. */
  readonly code: string;
  /** The field at fault. */
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSec: number | undefined;

  constructor(
    message: string,
    facts: Pick<ApiProblem, "status" | "code"> &
      Partial<Pick<ApiProblem, "param" | "requestId" | "retryAfterSec">>,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = "ApiProblem";
    this.status = facts.status;
    this.code = facts.code;
    this.param = facts.param;
    this.requestId = facts.requestId;
    this.retryAfterSec = facts.retryAfterSec;
  }
}

/** No answer came: the service is down, or the network between is. */
export function unreachable(cause: unknown): ApiProblem {
  return new ApiProblem("The service does not answer.", { status: 0, code: "unreachable" }, cause);
}

/**
 * Reads an answer that is an error, in either of the service's envelopes. One of 500 and more that is in none of them comes from a proxy
 * that does not reach the service.
 */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const { status, headers } = response;
  const after = Number(headers.get("retry-after") ?? Number.NaN);
  const rest = {
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterSec: Number.isFinite(after) ? after : undefined,
  };
  const body = ((await response.json().catch(() => undefined)) ?? {}) as {
    readonly message?: string;
    readonly data?: { readonly error_code?: string; readonly param?: string };
    readonly error?: { readonly message?: string; readonly code?: string; readonly param?: string };
  };
  const code = body.error?.code ?? body.data?.error_code;
  if (code !== undefined) {
    const message = body.error?.message ?? body.message ?? `The service answers ${status}.`;
    return new ApiProblem(message, { ...rest, code, param: body.error?.param ?? body.data?.param });
  }
  return status >= 500
    ? new ApiProblem(`The service does not answer: a proxy before it says ${status}.`, {
        ...{ status, code: "unreachable" },
      })
    : new ApiProblem(`The service answers ${status}, and not in its own words.`, {
        ...rest,
        code: "unknown",
      });
}
