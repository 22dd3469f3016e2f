/** Scales the picture by wheel, touch and keys, and opens the entries of its plants. The browser scrolls it. */
import type { GardenPicture } from './picture.ts';
import type { SceneGrowth } from './scene.ts';

/** CSS pixels that a pointer may move between press and release of a click. */
const CLICK_DISTANCE = 6;
const KEY_ZOOM = 1.8;

export type OpenEntry = (growth: SceneGrowth, event: MouseEvent | KeyboardEvent) => void;

export function listenTo(stage: HTMLElement, picture: GardenPicture, open: OpenEntry): void {
  listenToPointers(stage, picture, open);
  listenToWheel(stage, picture);
  listenToKeys(stage, picture, open);
}

interface Pointer {
  readonly x: number;
  readonly y: number;
}

function listenToPointers(stage: HTMLElement, picture: GardenPicture, open: OpenEntry): void {
  const pressed = new Map<number, Pointer>();
  let travelled = 0;
  /** The growth that a finger touched last. Touching it again opens it. */
  let touched: SceneGrowth | undefined;
  const at = (event: PointerEvent): Pointer => {
    const { left, top } = stage.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  stage.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    pressed.set(event.pointerId, at(event));
    travelled = pressed.size > 1 ? Infinity : 0;
  });
  stage.addEventListener('pointermove', (event) => {
    const to = at(event);
    const from = pressed.get(event.pointerId);
    if (from === undefined) {
      stage.classList.toggle('pointing', picture.point(to.x, to.y) !== undefined);
      return;
    }
    const [other] = [...pressed].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    // Two fingers: their distance scales.
    const apart = (place: Pointer): number => Math.max(20, Math.abs(place.x - (other?.x ?? 0)));
    if (other !== undefined) picture.zoom(apart(to) / apart(from), (to.x + other.x) / 2);
    travelled += Math.abs(to.x - from.x) + Math.abs(to.y - from.y);
    pressed.set(event.pointerId, to);
  });
  stage.addEventListener('pointerup', (event) => {
    if (!pressed.delete(event.pointerId) || travelled > CLICK_DISTANCE) return;
    const { x, y } = at(event);
    const growth = picture.point(x, y);
    const opensAtOnce = event.pointerType === 'mouse' || growth?.entry.id === touched?.entry.id;
    touched = growth;
    if (growth !== undefined && opensAtOnce) open(growth, event);
  });
  stage.addEventListener('pointercancel', ({ pointerId }) => pressed.delete(pointerId));
  stage.addEventListener('pointerleave', ({ pointerType, pointerId }) => {
    pressed.delete(pointerId);
    if (pointerType === 'mouse') picture.point();
  });
}

/** Scales while Ctrl is held, as browsers report pinching on a touchpad. Without Ctrl, the page scrolls. */
function listenToWheel(stage: HTMLElement, picture: GardenPicture): void {
  const onWheel = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const down = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : 30);
    const factor = Math.exp(Math.max(-50, Math.min(50, down)) * -0.01);
    picture.zoom(factor, event.clientX - stage.getBoundingClientRect().left);
  };
  stage.addEventListener('wheel', onWheel, { passive: false });
}

function listenToKeys(stage: HTMLElement, picture: GardenPicture, open: OpenEntry): void {
  const actions: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
    ArrowLeft: () => picture.focusNext(-1),
    ArrowRight: () => picture.focusNext(1),
    Home: () => picture.focusEnd('oldest'),
    End: () => picture.focusEnd('newest'),
    '+': () => picture.zoom(KEY_ZOOM),
    '=': () => picture.zoom(KEY_ZOOM),
    '-': () => picture.zoom(1 / KEY_ZOOM),
    '0': () => picture.showWhole(),
    Escape: () => picture.focus(undefined),
    Enter: (event) => {
      if (picture.focused !== undefined) open(picture.focused, event);
    },
  };
  stage.addEventListener('keydown', (event) => {
    const act = actions[event.key];
    if (act === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act(event);
  });
  stage.addEventListener('blur', () => picture.focus(undefined));
  stage.addEventListener('focus', () => {
    if (stage.matches(':focus-visible')) picture.focusNext(1);
  });
}
