/** How long one call may wait for its task, in seconds. */
export const MAX_WAIT_SEC = 600;
/** The same unless the call says: the official clients give up after a minute. */
export const USUAL_WAIT_SEC = 50;
