import sandboxImage from "./models/sandbox-image.yaml";
import sandboxVideo from "./models/sandbox-video.yaml";
import sandboxVideoEdit from "./models/sandbox-video-edit.yaml";
import sandboxVideoFrames from "./models/sandbox-video-frames.yaml";
import sandboxVideoMotion from "./models/sandbox-video-motion.yaml";
import sandboxVideoReference from "./models/sandbox-video-reference.yaml";

/**
 * Every built-in model in the order it is listed: file name and content. Named one by one, for inside the executable a folder
 * cannot be read.
 */
export const MANIFESTS: readonly (readonly [file: string, content: unknown])[] = [
  ["sandbox-image.yaml", sandboxImage],
  ["sandbox-video.yaml", sandboxVideo],
  ["sandbox-video-frames.yaml", sandboxVideoFrames],
  ["sandbox-video-reference.yaml", sandboxVideoReference],
  ["sandbox-video-edit.yaml", sandboxVideoEdit],
  ["sandbox-video-motion.yaml", sandboxVideoMotion],
];
