/** Moves the picture by pointer, wheel, touch and keys, and opens the entries of its plants. */
import type { GardenPicture } from './picture.ts';
import type { SceneItem } from './scene.ts';

/** CSS pixels that a pointer may move between press and release of a click. */
const CLICK_DISTANCE = 6;
const KEY_ZOOM = 1.8;

export type OpenEntry = (item: SceneItem, event: MouseEvent | KeyboardEvent) => void;

interface Controls {
  readonly stage: HTMLElement;
  readonly picture: GardenPicture;
  readonly open: OpenEntry;
  readonly signal: AbortSignal;
}

export function listenTo(controls: Controls): void {
  listenToPointers(controls);
  listenToWheel(controls);
  listenToKeys(controls);
}

function activate(
  item: SceneItem,
  { picture, open }: Controls,
  event: MouseEvent | KeyboardEvent,
): void {
  if (item.item === 'meadow') picture.approach(item);
  else open(item, event);
}

interface Pointer {
  x: number;
  y: number;
}

function listenToPointers(controls: Controls): void {
  const { stage, picture, signal } = controls;
  const pressed = new Map<number, Pointer>();
  let travelled = 0;
  /** The item that a finger touched last. Touching it again opens it. */
  let touched: SceneItem | undefined;
  const at = (event: PointerEvent): Pointer => {
    const { left, top } = stage.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const onDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    pressed.set(event.pointerId, at(event));
    travelled = pressed.size > 1 ? Infinity : 0;
    stage.setPointerCapture(event.pointerId);
  };
  const onMove = (event: PointerEvent): void => {
    const to = at(event);
    const from = pressed.get(event.pointerId);
    if (from === undefined) {
      stage.classList.toggle('pointing', picture.point(to.x, to.y) !== undefined);
      return;
    }
    const [other] = [...pressed].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    if (other !== undefined) pinch(controls, { from, to, other });
    else picture.view.pan((from.x - to.x) / stage.clientWidth);
    travelled += Math.abs(to.x - from.x) + Math.abs(to.y - from.y);
    if (travelled > CLICK_DISTANCE) picture.point();
    pressed.set(event.pointerId, to);
  };
  const onUp = (event: PointerEvent): void => {
    if (!pressed.delete(event.pointerId) || travelled > CLICK_DISTANCE) return;
    const { x, y } = at(event);
    const item = picture.point(x, y);
    if (item === undefined) return;
    const opensAtOnce = event.pointerType === 'mouse' || item === touched || item.item === 'meadow';
    touched = item;
    if (opensAtOnce) activate(item, controls, event);
  };
  stage.addEventListener('pointerdown', onDown, { signal });
  stage.addEventListener('pointermove', onMove, { signal });
  stage.addEventListener('pointerup', onUp, { signal });
  stage.addEventListener('pointercancel', ({ pointerId }) => pressed.delete(pointerId), { signal });
  stage.addEventListener(
    'pointerleave',
    ({ pointerType }) => {
      if (pointerType === 'mouse') picture.point();
    },
    { signal },
  );
}

/** Two fingers: their distance zooms, their middle pans. */
function pinch(
  { stage, picture }: Controls,
  { from, to, other }: { readonly from: Pointer; readonly to: Pointer; readonly other: Pointer },
): void {
  const width = stage.clientWidth;
  const before = Math.max(20, Math.abs(from.x - other.x));
  const after = Math.max(20, Math.abs(to.x - other.x));
  picture.view.zoom(before / after, (to.x + other.x) / 2 / width);
  picture.view.pan((from.x - to.x) / 2 / width);
}

/** Zooms if Ctrl is held, as browsers report pinching on a touchpad. Without Ctrl, the page scrolls. */
function listenToWheel({ stage, picture, signal }: Controls): void {
  const onWheel = (event: WheelEvent): void => {
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : 30;
    const [across, down] = [event.deltaX * unit, event.deltaY * unit];
    if (Math.abs(across) > Math.abs(down) || event.shiftKey) {
      picture.view.pan((across === 0 ? down : across) / stage.clientWidth);
      event.preventDefault();
      return;
    }
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const factor = Math.exp(Math.max(-50, Math.min(50, down)) * 0.01);
    const { left } = stage.getBoundingClientRect();
    picture.view.zoom(factor, (event.clientX - left) / stage.clientWidth);
  };
  stage.addEventListener('wheel', onWheel, { signal, passive: false });
}

function listenToKeys(controls: Controls): void {
  const { stage, picture, signal } = controls;
  const actions: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
    ArrowLeft: ({ shiftKey }) => (shiftKey ? picture.view.pan(-0.25) : void picture.focusNext(-1)),
    ArrowRight: ({ shiftKey }) => (shiftKey ? picture.view.pan(0.25) : void picture.focusNext(1)),
    Home: () => picture.focusEnd('oldest'),
    End: () => picture.focusEnd('newest'),
    '+': () => picture.zoomSmoothly(1 / KEY_ZOOM),
    '=': () => picture.zoomSmoothly(1 / KEY_ZOOM),
    '-': () => picture.zoomSmoothly(KEY_ZOOM),
    '0': () => picture.view.showWhole(),
    Escape: () => picture.unfocus(),
    Enter: (event) => {
      if (picture.focused !== undefined) activate(picture.focused, controls, event);
    },
  };
  const onKey = (event: KeyboardEvent): void => {
    const act = actions[event.key];
    if (act === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act(event);
  };
  stage.addEventListener('keydown', onKey, { signal });
  stage.addEventListener('blur', () => picture.unfocus(), { signal });
  stage.addEventListener(
    'focus',
    () => {
      if (stage.matches(':focus-visible')) void picture.focusNext(1);
    },
    { signal },
  );
}
