// Takes away what reaches out of the frame, or makes a realm that this has not run in.
// The policy of the document stops most of it too; WebRTC it does not stop.
import { pin } from "./natives";

const globals = [
  // WebRTC and its like: no content security policy stops them
  "RTCPeerConnection", "webkitRTCPeerConnection", "mozRTCPeerConnection", "RTCDataChannel", "RTCIceTransport", "RTCDtlsTransport",
  "RTCSctpTransport", "RTCCertificate", "RTCRtpSender", "RTCRtpReceiver", "RTCRtpTransceiver", "WebTransport", "TCPSocket", "UDPSocket",
  // requests
  "fetch", "fetchLater", "XMLHttpRequest", "WebSocket", "WebSocketStream", "EventSource", "PushManager", "BackgroundFetchManager",
  // other realms and other tabs
  "Worker", "SharedWorker", "ServiceWorkerContainer", "BroadcastChannel", "Worklet", "AudioWorklet", "AudioWorkletNode", "SharedStorage",
  // ways from text or data to elements
  "XSLTProcessor", "DOMParser", "Sanitizer", "customElements", "trustedTypes",
  // the machine and the person
  "Notification", "PaymentRequest", "PresentationRequest", "EyeDropper", "IdleDetector", "NDEFReader", "SpeechRecognition", "webkitSpeechRecognition",
  "showOpenFilePicker", "showSaveFilePicker", "showDirectoryPicker", "queryLocalFonts", "getScreenDetails", "documentPictureInPicture",
  "find", "open", "alert", "confirm", "prompt", "print", "indexedDB", "caches", "cookieStore", "launchQueue", "navigation", "speechSynthesis",
];

const ofNavigator = [
  "sendBeacon", "serviceWorker", "credentials", "mediaDevices", "geolocation", "clipboard", "share", "bluetooth", "usb", "hid", "serial", "xr",
  "mediaSession", "requestMIDIAccess", "registerProtocolHandler", "unregisterProtocolHandler", "joinAdInterestGroup", "leaveAdInterestGroup",
  "runAdAuction", "createAuctionNonce", "updateAdInterestGroups", "getInstalledRelatedApps", "presentation", "wakeLock", "locks", "storage",
  "storageBuckets", "gpu", "getUserMedia", "webkitGetUserMedia", "mozGetUserMedia", "getBattery", "keyboard", "ink", "contacts", "vibrate",
];

const ofDocument = ["execCommand", "queryCommandSupported", "requestStorageAccess", "hasStorageAccess", "browsingTopics", "parseHTMLUnsafe", "parseHTML", "open", "write", "writeln", "close"];

// Firefox's own words for what an event began at: they reach into closed shadow trees.
const ofEvents = ["originalTarget", "explicitOriginalTarget", "composedTarget", "rangeParent"];

/** Takes one name from an object and its prototypes, or hides it for good. */
export function remove(object: object, name: string) {
  for (let o: object | null = object; o; o = Reflect.getPrototypeOf(o)) Reflect.deleteProperty(o, name);
  try {
    pin(object, name, undefined);
  } catch {
    // not configurable and not there: nothing to hide
  }
}

for (const name of globals) if (name in window) remove(window, name);
for (const name of ofNavigator) if (name in navigator) remove(navigator, name);
for (const name of ofDocument) {
  if (name in Document) remove(Document, name);
  if (name in document) remove(document, name);
}
for (const proto of [Event.prototype, UIEvent.prototype]) for (const name of ofEvents) if (name in proto) remove(proto, name);
if ("CSS" in window) for (const name of ["paintWorklet", "layoutWorklet", "animationWorklet"]) if (name in CSS) remove(CSS, name);

if ("BaseAudioContext" in window) remove(BaseAudioContext.prototype, "audioWorklet");

// setHTML, setHTMLUnsafe, and whatever of that kind comes: everything of that name but
// the two properties that Trusted Types watch over.
for (const proto of [Element.prototype, ShadowRoot.prototype, Range.prototype, Document.prototype]) {
  for (const name of Object.getOwnPropertyNames(proto)) {
    if (/HTML|ContextualFragment/.test(name) && name !== "innerHTML" && name !== "outerHTML" && name !== "insertAdjacentHTML") remove(proto, name);
  }
}
