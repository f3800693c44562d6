import { noteAnswer, noteSilence } from "./connection.ts";
import { type ApiProblem, problemOf, unreachable } from "./problem.ts";

/** Sends a request once, and notes whether the service answers. @throws DOMException where its signal aborted it */
export async function once(url: URL, request: RequestInit): Promise<Response | ApiProblem> {
  let response: Response;
  try {
    response = await fetch(url, request);
  } catch (error) {
    if (request.signal?.aborted) throw error;
    noteSilence();
    return unreachable(error);
  }
  const problem = response.ok ? undefined : await problemOf(response);
  if (problem?.code === "unreachable") noteSilence();
  else noteAnswer(response);
  return problem ?? response;
}
