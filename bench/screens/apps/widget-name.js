export const Widget = 'sluice-widget';
