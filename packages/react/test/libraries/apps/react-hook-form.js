import { createElement as h } from 'react';
import { Controller, FormProvider, useFieldArray, useForm, useFormContext, useWatch } from 'react-hook-form';

function Friends() {
  const { control, register } = useFormContext();
  const { fields } = useFieldArray({ control, name: 'friends', keyName: 'own' });
  return h(
    'fieldset',
    null,
    fields.map((field, index) =>
      h('input', { key: index, ...register(`friends.${index}.name`), defaultValue: field.name }),
    ),
  );
}

function Watched() {
  return h('output', null, useWatch({ name: 'name' }));
}

function Form() {
  const form = useForm({
    defaultValues: {
      name: 'Ada "the first"',
      size: 'm',
      agree: true,
      friends: [{ name: 'Bob' }, { name: 'Eve' }],
    },
  });
  const { register, handleSubmit, control, formState } = form;
  return h(
    FormProvider,
    form,
    h(
      'form',
      { onSubmit: handleSubmit(() => undefined) },
      h('input', { ...register('name', { required: true, maxLength: 40 }) }),
      h(
        'select',
        { ...register('size'), defaultValue: 'm' },
        h('option', { value: 's' }, 'S'),
        h('option', { value: 'm' }, 'M'),
      ),
      h('input', { type: 'checkbox', ...register('agree') }),
      h(Controller, {
        control,
        name: 'name',
        render: ({ field, fieldState }) => h('input', { ...field, 'aria-invalid': fieldState.invalid }),
      }),
      h(Friends),
      h(Watched),
      h('button', { disabled: formState.isSubmitting }, formState.isDirty ? 'Changed' : 'Same'),
    ),
  );
}

export default () => h(Form);
