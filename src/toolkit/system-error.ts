/** What the operating system's codes mean, as the clause that follows "cannot be read: ". */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user has no right to it",
  EADDRINUSE: "something else listens there",
  EADDRNOTAVAIL: "this machine has no such address",
  EBUSY: "something else is using it",
  EDQUOT: "this user's share of the disk is used up",
  EEXIST: "something else of that name is there",
  EFBIG: "it would be larger than its file system allows",
  EINVAL: "its file system does not allow it",
  EIO: "the disk failed",
  EISDIR: "it is a folder, and must be a file",
  ELOOP: "its links lead in a circle",
  EMFILE: "this process has too many files open",
  ENAMETOOLONG: "its name is too long",
  ENFILE: "this machine has too many files open",
  ENOENT: "there is no such file or folder",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of its path is a file, and must be a folder",
  ENOTEMPTY: "the folder is not empty",
  EPERM: "the system does not allow it",
  EROFS: "its file system can only be read",
  ETXTBSY: "it is a program that runs",
  EXDEV: "it is on another file system",
};

/** What was tried, by the call to the operating system. */
const VERBS: Readonly<Record<string, string>> = {
  access: "open",
  chmod: "change the rights of",
  copyfile: "copy",
  fsync: "write",
  ftruncate: "write",
  lstat: "open",
  mkdir: "make",
  mkdtemp: "make a folder in",
  open: "open",
  opendir: "open",
  read: "read",
  readlink: "open",
  rename: "rename",
  rmdir: "remove",
  scandir: "open",
  stat: "open",
  symlink: "make",
  unlink: "remove",
  write: "write",
};

/** An error of the operating system, such as node and Bun throw. */
interface SystemError extends Error {
  readonly code: string;
  readonly syscall?: string;
  readonly path?: string;
}

export function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code in REASONS;
}

/** Says why something failed, as a clause without a full stop: the system's codes in words, other errors by their message. */
export function reasonOf(error: unknown): string {
  if (isSystemError(error)) return REASONS[error.code] ?? error.code;
  const message = error instanceof Error ? error.message : String(error);
  return /^(.*?)[.\s]*$/s.exec(message)?.[1] ?? message;
}

/** Says what was tried and why it failed: `Cannot make /var/lib/svc: this user has no right to it.` */
export function systemMessage(error: SystemError): string {
  const tried = VERBS[error.syscall ?? ""] ?? "use";
  return `Cannot ${tried} ${error.path ?? "a file"}: ${reasonOf(error)}.`;
}
