/**
 * Distinguishable with impaired colour vision: neighbours differ in lightness and not only in hue. One row for each colour scheme, visible on its
 * background.
 */
const LIGHT = ['#0072b2', '#e69f00', '#117733', '#cc79a7', '#332288', '#56b4e9', '#b3441e', '#a9a838']
const DARK = ['#4a9fe0', '#f0b429', '#1fa37a', '#eeaed0', '#8578e6', '#a5dcff', '#e0683a', '#d6d67a']
const REST = { light: '#9aa0a6', dark: '#7b8188' }

export interface ChartColours {
  /** The colour of the series at this position; repeats after eight. */
  readonly series: (place: number) => string
  /** The colour for all others combined. */
  readonly rest: string
  readonly ground: string
  readonly text: string
  readonly grid: string
}

export function chartColours(scheme: 'light' | 'dark'): ChartColours {
  const series = scheme === 'light' ? LIGHT : DARK
  return {
    series: (place) => series[place % series.length] ?? REST[scheme],
    rest: REST[scheme],
    ...(scheme === 'light'
      ? { ground: '#ffffff', text: '#495057', grid: 'rgba(0, 0, 0, 0.08)' }
      : { ground: '#242424', text: '#b8b8b8', grid: 'rgba(255, 255, 255, 0.1)' }),
  }
}
