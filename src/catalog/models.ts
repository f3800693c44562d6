import fluxDev from "./models/flux-dev.yaml";
import fluxKontextPro from "./models/flux-kontext-pro.yaml";
import fluxSchnell from "./models/flux-schnell.yaml";
import gptImage15 from "./models/gpt-image-1.5.yaml";
import gptImage1Mini from "./models/gpt-image-1-mini.yaml";
import gptImage2 from "./models/gpt-image-2.yaml";
import klingV3Standard from "./models/kling-v3-standard.yaml";
import nanoBanana from "./models/nano-banana.yaml";
import sandboxImage from "./models/sandbox-image.yaml";
import sandboxVideo from "./models/sandbox-video.yaml";
import sandboxVideoEdit from "./models/sandbox-video-edit.yaml";
import sandboxVideoFrames from "./models/sandbox-video-frames.yaml";
import sandboxVideoMotion from "./models/sandbox-video-motion.yaml";
import sandboxVideoReference from "./models/sandbox-video-reference.yaml";
import veo3 from "./models/veo3.yaml";

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
  ["gpt-image-2.yaml", gptImage2],
  ["gpt-image-1.5.yaml", gptImage15],
  ["gpt-image-1-mini.yaml", gptImage1Mini],
  ["flux-schnell.yaml", fluxSchnell],
  ["flux-dev.yaml", fluxDev],
  ["flux-kontext-pro.yaml", fluxKontextPro],
  ["nano-banana.yaml", nanoBanana],
  ["kling-v3-standard.yaml", klingV3Standard],
  ["veo3.yaml", veo3],
];
